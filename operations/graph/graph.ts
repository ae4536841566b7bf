import type { Project, Service } from '../../compiler/compose/project.ts'
import { usedEntries } from '../../compiler/compose/used-entries.ts'
import type { Diagnostic } from '../../compiler/diagnostics/diagnostic.ts'
import type { Plan } from '../../compiler/plan/plan.ts'
import { printable } from '../../compiler/values/printable.ts'
import { compileFiles } from '../../project/compile-files.ts'
import type { LoadInput, PlanInput } from '../../project/input.ts'
import { labelsOf } from '../../project/names/named-services.ts'
import { nothingToRender } from '../../project/nothing-to-render.ts'
import type { LocalContext } from '../../project/session.ts'

export interface GraphInput extends LoadInput, PlanInput {
  /** Services to show, together with their dependencies. If absent or empty, all services. */
  readonly services?: readonly string[] | undefined
}

export type GraphOutcome =
  | { readonly kind: 'refused'; readonly diagnostics: readonly Diagnostic[] }
  | { readonly kind: 'graph'; readonly diagnostics: readonly Diagnostic[]; readonly graph: ApplicationGraph }

/** Parts of an application, and how they are connected. */
export interface ApplicationGraph {
  readonly name: string
  readonly nodes: readonly GraphPart[]
  readonly edges: readonly GraphEdge[]
}

export interface GraphPart {
  /** Identity, such as `service web` or `job backup`. */
  readonly id: string
  readonly kind: 'service' | 'job' | 'endpoint' | 'volume' | 'config' | 'secret' | 'network'
  readonly name: string
  /** Second line, such as the kind of the workload. */
  readonly detail?: string
  /** Schedules of a job: cron expressions, with their time zones. */
  readonly schedules?: readonly string[]
}

export interface GraphEdge {
  readonly from: string
  readonly to: string
  readonly kind: 'depends-on' | 'routes-to' | 'mounts' | 'joins'
  /** Condition of a dependency, path of a route, or mount path. */
  readonly label?: string
}

/** Compiles an application, and returns its parts and how they are connected. Uses only files, no cluster. */
export async function graph(
  { workspace }: Pick<LocalContext, 'workspace'>,
  { services = [], ...input }: GraphInput,
): Promise<GraphOutcome> {
  const compiled = await compileFiles(workspace, services, input, input)
  const { plan, project, diagnostics, hasNoCompose, manifest } = compiled
  if (hasNoCompose && manifest) throw nothingToRender(manifest)
  if (!plan || !project) return { kind: 'refused', diagnostics }
  return { kind: 'graph', diagnostics, graph: graphOf(plan, project, await labelsOf(project)) }
}

const CONDITIONS = {
  service_started: 'started',
  service_healthy: 'healthy',
  service_completed_successfully: 'completed',
} as const

/**
 * Returns the graph of a plan. Kinds and routes come from the plan, names from the Compose files. `labels` contains the
 * services' names in the plan.
 */
export function graphOf(plan: Plan, project: Project, labels: ReadonlyMap<string, string>): ApplicationGraph {
  const services = [...project.services.values()]
  const nodes = services.map(service => partOf(service, plan, labels.get(service.name)))
  const idOf = ({ name, triggers }: Service) => `${triggers ? 'job' : 'service'} ${name}`
  const edges: GraphEdge[] = []
  const add = (node: GraphPart) => {
    if (!nodes.some(({ id }) => id === node.id)) nodes.push(node)
    return node.id
  }
  for (const { host, rules } of plan.routes)
    for (const { path, service } of rules) {
      const to = services.find(({ name }) => labels.get(name) === service)
      if (!to) continue
      const from = add({ id: `endpoint ${host}`, kind: 'endpoint', name: host })
      edges.push({ from, to: idOf(to), kind: 'routes-to', ...(path !== '/' && { label: printable(path) }) })
    }
  for (const service of services) {
    const { dependsOn, mounts, networks } = service
    const from = idOf(service)
    for (const { service: other, condition, restart } of dependsOn)
      if (project.services.has(other)) {
        const label = `${CONDITIONS[condition]}${restart ? ', restart' : ''}`
        edges.push({ from, to: `service ${other}`, kind: 'depends-on', label })
      }
    for (const mount of mounts)
      if (mount.type === 'volume' && mount.source !== undefined)
        edges.push({
          from,
          to: add({ id: `volume ${mount.source}`, kind: 'volume', name: mount.source }),
          kind: 'mounts',
          label: printable(mount.target.value),
        })
    for (const kind of ['config', 'secret'] as const)
      for (const source of new Set(usedEntries(service, `${kind}s`)))
        edges.push({ from, to: add({ id: `${kind} ${source}`, kind, name: source }), kind: 'mounts' })
    for (const { name: network } of networks)
      if (project.networks.size > 1 || network !== 'default')
        edges.push({ from, to: add({ id: `network ${network}`, kind: 'network', name: network }), kind: 'joins' })
  }
  return { name: plan.environment.name, nodes, edges }
}

function partOf({ name, triggers }: Service, { workloads }: Plan, label: string | undefined): GraphPart {
  if (triggers) {
    const schedules = triggers.schedules.map(({ cron, timeZone }) => (timeZone ? `${cron} ${timeZone}` : cron))
    return { id: `job ${name}`, kind: 'job', name, detail: 'CronJob', schedules }
  }
  const workload = workloads.find(({ pod }) => pod.services.some(one => one === label))
  return { id: `service ${name}`, kind: 'service', name, ...(workload && { detail: workload.kind }) }
}
