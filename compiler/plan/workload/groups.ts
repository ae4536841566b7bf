import type { Project, Service } from '../../compose/project.ts'
import { diagnostic } from '../../diagnostics/diagnostic.ts'
import type { Reporter } from '../../diagnostics/reporter.ts'
import { didYouMean } from '../../diagnostics/suggest.ts'
import type { At } from '../../text/source.ts'
import { sortBy } from '../context.ts'

const unknownTarget = diagnostic({
  code: 'groups/unknown-target',
  severity: 'error',
  explain: `A service can share the network, processes or IPC of another one: \`network_mode: service:NAME\`, or \`container:NAME\` if a service of the file has that \`container_name\`. The two become containers of one Pod. A container outside the Compose file cannot be part of the Pod.`,
  text: (p: { key: string; value: string; hint?: string | undefined }) => ({
    message: `\`${p.key}: ${p.value}\` does not name a service of the project`,
    hint: p.hint ?? 'write `service:NAME` with a service of the Compose file',
  }),
})

const circular = diagnostic({
  code: 'groups/circular',
  severity: 'error',
  explain:
    'Services that share a namespace form one Pod, in which one service owns the namespace and the others join it. Here each service joins another one, so none owns it. Remove `service:` from one of them.',
  text: (p: { services: readonly string[] }) => ({
    message: `${p.services.map(name => `\`${name}\``).join(', ')} share namespaces in a cycle`,
    hint: 'give one of them its own namespace',
  }),
})

/** Services whose containers run in one Pod; most groups have one member. */
export interface Group {
  /** The service whose namespaces the others join. The Pod's workload is named after it. */
  readonly lead: Service
  /** All members: the lead first, then the others by name. */
  readonly members: readonly Service[]
}

export interface Groups {
  /** All groups, sorted by the name of the lead. */
  readonly all: readonly Group[]
  of(service: string): Group | undefined
}

const shared = ['networkMode', 'pid', 'ipc', 'uts', 'cgroup'] as const
const composeKeys = { networkMode: 'network_mode', pid: 'pid', ipc: 'ipc', uts: 'uts', cgroup: 'cgroup' }
/** Matches the value with which a service joins a namespace of another one. */
const JOINED = /^(service|container):(.*)$/s

/**
 * Groups the services that share namespaces. Reports a key that joins something other than a service, and services that
 * join each other in a cycle.
 */
export function planGroups(project: Project, reporter: Reporter): Groups {
  const containers = containerNames(project)
  const lenders = new Map<string, Set<string>>()
  const parent = new Map<string, string>()
  const root = (name: string): string => {
    let at = name
    for (let up = parent.get(at); up !== undefined; up = parent.get(at)) at = up
    // Shortens the path for later lookups.
    if (at !== name) parent.set(name, at)
    return at
  }
  for (const service of project.services.values()) {
    for (const field of shared) {
      const target = service[field] && targetOf(service[field], composeKeys[field], project, containers, reporter)
      if (!target) continue
      lenders.set(service.name, (lenders.get(service.name) ?? new Set()).add(target))
      const [from, to] = [root(service.name), root(target)]
      if (from !== to) parent.set(from, to)
    }
  }
  const members = new Map<string, Service[]>()
  for (const service of project.services.values()) {
    const key = root(service.name)
    const others = members.get(key)
    if (others) others.push(service)
    else members.set(key, [service])
  }
  const groups = [...members.values()].map(found => toGroup(found, lenders, reporter))
  const index = new Map<string, Group>()
  for (const group of groups) for (const member of group.members) index.set(member.name, group)
  return { all: sortBy(groups, group => group.lead.name), of: service => index.get(service) }
}

function toGroup(
  found: readonly Service[],
  lenders: ReadonlyMap<string, ReadonlySet<string>>,
  reporter: Reporter,
): Group {
  const sorted = sortBy(found, service => service.name)
  const lead = sorted.find(service => !lenders.has(service.name)) ?? sorted[0]!
  // A cycle of services is also a cycle of dependencies, which the loader reports. The loader does not see cycles that
  // use container names.
  if (lenders.has(lead.name) && sorted.some(joinsContainer))
    reporter.report(circular, lead.span, { services: sorted.map(service => service.name) })
  return { lead, members: [lead, ...sorted.filter(service => service !== lead)] }
}

/** Returns true if a member waits until the lead is healthy. The lead is then a sidecar of the others. */
export const isLeadAwaited = ({ lead, members }: Group): boolean =>
  members.some(({ dependsOn }) =>
    dependsOn.some(({ service, condition }) => service === lead.name && condition === 'service_healthy'),
  )

/** Returns the keys with which a service joins another service's Pod, with their values. */
export const joiningKeys = (service: Service): readonly (At<string> & { readonly key: string })[] =>
  shared.flatMap(field => {
    const found = service[field]
    return found && JOINED.test(found.value) ? [{ ...found, key: composeKeys[field] }] : []
  })

const joinsContainer = (service: Service): boolean =>
  shared.some(field => service[field]?.value.startsWith('container:'))

/**
 * Returns the service whose namespace a service uses: the last service in the chain of keys that join a namespace, or
 * the service itself if its key joins no other service.
 */
export function namespaceOwner({ services }: Project, service: Service, key: 'ipc' | 'networkMode'): Service {
  const seen = new Set<Service>()
  let at = service
  for (let next: Service | undefined = at; next && !seen.has(next); next = joinedBy(next[key]?.value, services)) {
    at = next
    seen.add(next)
  }
  return at
}

function joinedBy(value = '', services: Project['services']): Service | undefined {
  const [, kind, name = ''] = JOINED.exec(value) ?? []
  if (kind !== 'container') return services.get(name)
  return [...services.values()].find(({ containerName }) => containerName?.value === name)
}

/**
 * Returns the service in a value such as `service:x` or `container:x`; undefined for other values. Reports an unknown
 * container.
 */
function targetOf(
  { value, span }: At<string>,
  key: string,
  project: Project,
  containers: ReadonlyMap<string, string>,
  reporter: Reporter,
): string | undefined {
  const [, kind, name] = JOINED.exec(value) ?? []
  if (kind === undefined || name === undefined) return undefined
  const target = kind === 'service' ? name : containers.get(name)
  if (target !== undefined && project.services.has(target)) return target
  // The loader has already reported missing services, and a profile may leave a service out.
  if (kind === 'service') return undefined
  const hint = didYouMean(name, containers.keys())
  reporter.report(unknownTarget, span, { key, value, hint })
  return undefined
}

/** Maps the name that Compose would give each container to its service. */
function containerNames(project: Project): ReadonlyMap<string, string> {
  const names = new Map<string, string>()
  for (const service of project.services.values())
    if (service.containerName) names.set(service.containerName.value, service.name)
  return names
}
