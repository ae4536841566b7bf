import type { Project, Service } from '../compose/project.ts'
import type { Reporter } from '../diagnostics/reporter.ts'
import type { CompilerHost } from '../host.ts'
import type { PlanOptions } from '../options.ts'
import { planBuilds } from './builds.ts'
import { type PlanContext, sortBy } from './context.ts'
import { countsOf } from './counts.ts'
import { planObjects } from './kubernetes/objects.ts'
import { addPieces } from './kubernetes/pieces.ts'
import { reportForeignLabels } from './labels/foreign-labels.ts'
import { checkOwnLabels } from './labels/own-labels.ts'
import { planLayout, type ServiceLayout } from './layout.ts'
import { planEnvironment, planNames } from './names.ts'
import { planNetworks } from './network/network-policies.ts'
import { planRoutes } from './network/routes.ts'
import { planStartOrder } from './order/start-order.ts'
import { spendOutput } from './output-size.ts'
import type { AutoscalerPlan, Plan, WorkloadPlan } from './plan.ts'
import { checkArguments, checkTarget } from './pod/built-image.ts'
import { checkImageOptions } from './pod/image.ts'
import { checkImageUser } from './pod/image-user.ts'
import { lacksProgram, reportUnknownProgram } from './pod/one-shot.ts'
import { type PodFacts, planPod } from './pod/pod.ts'
import { checkPodSize } from './pod/pod-size.ts'
import { planSecurityLevel } from './pod/security-level.ts'
import { reportUnknownImages } from './pod/unknown-images.ts'
import { guardSecrets } from './secrets/secret-guard.ts'
import { planSecretObjects } from './secrets/secret-objects.ts'
import { checkSecretPaths } from './secrets/secret-paths.ts'
import { planAllMounts } from './storage/all-mounts.ts'
import { findSharedFolders } from './storage/folder-users.ts'
import { checkImageVolumes } from './storage/image-volumes.ts'
import { planSharing } from './storage/shared-volumes.ts'
import { planAutoscaler } from './workload/autoscaler.ts'
import { checkCronJobNames } from './workload/cron-jobs.ts'
import { planGroups } from './workload/groups.ts'
import { planWorkload } from './workload/workload.ts'

/**
 * Decides which Kubernetes objects a project needs. Reports errors and features that are lost, and returns the best
 * plan it can; the caller drops the plan if there are errors. The plan does not depend on the order of keys where the
 * order has no meaning.
 */
export function planProject(project: Project, options: PlanOptions, host: CompilerHost, reporter: Reporter): Plan {
  const context = createContext(project, options, host, reporter)
  checkProject(context)
  const services = sortBy(project.services.values(), ({ name }) => name)
  const groups = planGroups(project, reporter)
  const mounts = planAllMounts(context, services)
  const layout = planLayout(context, groups, services, mounts.mountsOf)
  const start = planStart(context, layout)
  const colocate = planColocation(context, layout, mounts)
  const network = planTraffic(context, layout, start)
  const facts = {
    ...mounts,
    start,
    colocate,
    network,
    isSharedFolder: findSharedFolders(context, services, mounts.mountsOf),
  }
  const { workloads, autoscalers } = planWorkloads(context, layout, facts)
  const lasting = groups.all.filter(group => layout.kindOf(group).kind !== 'Job').map(({ members }) => members)
  checkPods(context, layout, { services, lasting, workloads })
  const secrets = planSecretObjects(context)
  const images = imagesOf(services, workloads, context.names.of)
  const { objects } = context
  const made: Omit<Plan, 'objects'> = {
    environment: context.environment,
    ...addPieces(context, groups.all, {
      workloads: sortBy(workloads, ({ name }) => name),
      services: layout.serviceObjects.all,
      routes: network.routes,
      openRoutes: network.openRoutes,
      claims: byName(objects.claims),
    }),
    configMaps: byName(objects.configMaps),
    ...secrets,
    policies: network.policies,
    autoscalers: sortBy(autoscalers, ({ name }) => name),
    images,
    unknownPrograms: withoutPrograms(context, lasting, workloads),
    builds: options.forBuild ? planBuilds(context, images) : [],
    ...countsOf(services),
    security: planSecurityLevel(context, services, mounts.mountsOf),
  }
  const plan: Plan = { ...made, objects: planObjects(context, made) }
  spendOutput(plan, reporter)
  guardSecrets(context, plan)
  return plan
}

function createContext(project: Project, options: PlanOptions, host: CompilerHost, reporter: Reporter): PlanContext {
  return {
    project,
    options,
    host,
    reporter,
    environment: planEnvironment(project, options),
    names: planNames(project, options, reporter),
    healthAwaited: awaitedForHealth(project),
    objects: { configMaps: new Map(), secrets: new Map(), claims: new Map(), externalClaims: new Map() },
    valuesApart: new Set(),
  }
}

/** Checks what needs no other decision. */
function checkProject(context: PlanContext): void {
  checkImageOptions(context)
  checkOwnLabels(context)
  reportForeignLabels(context)
  for (const service of context.project.services.values()) {
    checkTarget(context, service)
    checkArguments(context, service)
  }
}

type Waits = ReturnType<typeof planStartOrder>

const planStart = (
  context: PlanContext,
  { groups, kindOf, exposureOf, ownNamesOf, serviceObjects }: ServiceLayout,
): Waits =>
  planStartOrder(context, groups, {
    kindOf,
    serviceOf: serviceObjects.of,
    readyServiceOf: serviceObjects.readyOf,
    waitPortsOf: service => exposureOf(service).waitPorts,
    directOf: group => {
      const { direct, called } = ownNamesOf(group)
      return [
        ...[...direct].map(service => ({ service, host: context.names.of(service) })),
        ...[...called].map(([service, { value: host }]) => ({ service, host })),
      ]
    },
  })

const planColocation = (
  context: PlanContext,
  { groups, kindOf }: ServiceLayout,
  { mountsOf }: Pick<PodFacts, 'mountsOf'>,
) =>
  planSharing(
    context,
    groups.all.map(group => ({
      group,
      kind: kindOf(group).kind,
      mounts: group.members.flatMap(service => mountsOf(service).map(mount => ({ service, mount }))),
    })),
  )

/** Plans the routes into the cluster, and the policies between the Pods. */
function planTraffic(context: PlanContext, { groups, endpoints, dotted, serviceObjects }: ServiceLayout, start: Waits) {
  const all = planRoutes(context, endpoints)
  dotted.reportUses(new Set(all.map(({ host }) => host)))
  const routes = all.filter(({ isOpen }) => !isOpen)
  const pods = groups.all.map(group => ({
    service: context.names.of(group.lead.name),
    members: group.members,
    waits: start.get(group)!.waits,
  }))
  const networks = planNetworks(context, pods, routes, serviceObjects.all)
  return { routes, openRoutes: all.filter(({ isOpen }) => isOpen), ...networks }
}

interface WorkloadFacts extends Pick<PodFacts, 'mountsOf' | 'variablesOf' | 'isSharedFolder'> {
  readonly start: Waits
  readonly colocate: ReturnType<typeof planColocation>
  readonly network: Pick<ReturnType<typeof planTraffic>, 'labelsOf'>
}

function planWorkloads(
  context: PlanContext,
  { groups, kindOf, exposureOf, ownNamesOf, dotted, serviceObjects }: ServiceLayout,
  { start, colocate, network, ...stored }: WorkloadFacts,
): Pick<Plan, 'workloads' | 'autoscalers'> {
  const autoscalers: AutoscalerPlan[] = []
  const workloads = groups.all.map(group => {
    context.reporter.budget.checkTime(group.lead.span)
    const decision = kindOf(group)
    const waiting = start.get(group)!
    const facts = {
      ...stored,
      kind: decision.kind,
      waiting,
      colocate: colocate.get(group) ?? [],
      labels: { ...serviceObjects.labelsOf(group), ...network.labelsOf(context.names.of(group.lead.name)) },
      exposureOf,
      hostname: ownNamesOf(group).hostname,
      subdomain: dotted.of(group)?.subdomain,
    }
    const workload = planWorkload(context, group, decision, planPod(context, group, facts), waiting)
    const autoscaler = planAutoscaler(context, group, workload)
    if (autoscaler) autoscalers.push(autoscaler)
    return workload
  })
  return { workloads, autoscalers }
}

interface PlannedPods {
  readonly services: readonly Service[]
  /** Members of each Pod that is not a Pod of a Job. */
  readonly lasting: readonly (readonly Service[])[]
  readonly workloads: readonly WorkloadPlan[]
}

/** Checks the planned Pods, and reports what their images may lack. */
function checkPods(
  context: PlanContext,
  { exposureOf }: ServiceLayout,
  { services, lasting, workloads }: PlannedPods,
): void {
  for (const workload of workloads) checkPodSize(context, workload)
  checkCronJobNames(context.reporter, workloads)
  for (const service of services) checkImageUser(context, service)
  for (const service of lasting.flat()) checkImageVolumes(context, service)
  const isPortless = ({ name }: Service) => exposureOf(name).servicePorts.length === 0
  reportUnknownImages(context, services, lasting.filter(members => members.every(isPortless)).flat())
  checkSecretPaths(context)
}

/**
 * Reports and returns the services that share the Pod of another service and should run only once, but whose images
 * start unknown programs. A service can run once only if its program is known.
 */
function withoutPrograms(
  context: PlanContext,
  pods: readonly (readonly Service[])[],
  workloads: readonly WorkloadPlan[],
): readonly string[] {
  const containers = new Map(workloads.flatMap(({ pod }) => pod.containers).map(one => [one.name, one]))
  const members = pods.flatMap(([, ...others]) => others)
  return members
    .flatMap(service => {
      const container = containers.get(context.names.of(service.name))
      if (!container || !lacksProgram(context, service, container)) return []
      reportUnknownProgram(context, service)
      return [service.name]
    })
    .sort()
}

function imagesOf(
  services: readonly Service[],
  workloads: readonly WorkloadPlan[],
  nameOf: (service: string) => string,
): ReadonlyMap<string, string> {
  const containers = workloads.flatMap(({ pod }) => [...pod.init, ...pod.containers])
  const images = new Map(containers.map(({ name, image }) => [name, image]))
  return new Map(
    services.flatMap(({ name }) => {
      const image = images.get(nameOf(name))
      return image ? [[name, image] as const] : []
    }),
  )
}

/**
 * Returns the services that other services wait for until they are healthy, except services with zero replicas, which
 * nothing waits for.
 */
const awaitedForHealth = ({ services }: Project): ReadonlySet<string> =>
  new Set(
    [...services.values()].flatMap(({ dependsOn }) =>
      dependsOn
        .filter(({ condition, service }) => condition === 'service_healthy' && !hasNoReplicas(services.get(service)))
        .map(({ service }) => service),
    ),
  )

/** Returns true for a service with zero replicas. A service on every node has no number of replicas. */
const hasNoReplicas = (service: Service | undefined): boolean =>
  service?.scale?.value === 0 && service.deploy.mode?.value !== 'global'

const byName = <T extends { readonly name: string }>(objects: ReadonlyMap<string, T>): readonly T[] =>
  sortBy(objects.values(), ({ name }) => name)
