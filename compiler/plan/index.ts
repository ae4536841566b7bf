import type { Project, Service } from '../compose/project.ts'
import type { Reporter } from '../diagnostics/reporter.ts'
import type { CompilerHost } from '../host.ts'
import type { PlanOptions } from '../options.ts'
import { planBuilds } from './builds.ts'
import { type PlanContext, sortBy } from './context.ts'
import { planObjects } from './kubernetes/objects.ts'
import { addPieces } from './kubernetes/pieces.ts'
import { reportForeignLabels } from './labels/foreign-labels.ts'
import { checkOwnLabels } from './labels/own-labels.ts'
import { planEnvironment, planNames, reportRenamed } from './names.ts'
import { nameHolders, planDottedNames } from './network/dotted-names.ts'
import { type EndpointPort, planExposure } from './network/exposure.ts'
import { planNetworks } from './network/network-policies.ts'
import { findClustered, planOwnNames } from './network/own-names.ts'
import { planRoutes } from './network/routes.ts'
import { planServiceObjects } from './network/service-objects.ts'
import { planStartOrder } from './order/start-order.ts'
import { spendOutput } from './output-size.ts'
import type { AutoscalerPlan, Plan, WorkloadPlan } from './plan.ts'
import { checkArguments, checkTarget } from './pod/built-image.ts'
import { planDevices } from './pod/devices.ts'
import { checkImageOptions } from './pod/image.ts'
import { checkImageUser } from './pod/image-user.ts'
import { lacksProgram, reportUnknownProgram } from './pod/one-shot.ts'
import { type PodFacts, planPod } from './pod/pod.ts'
import { isOnHostNetwork } from './pod/pod-settings.ts'
import { checkPodSize } from './pod/pod-size.ts'
import { planSecurityLevel } from './pod/security-level.ts'
import { reportUnknownImages } from './pod/unknown-images.ts'
import { findMentions, type MountedFile } from './secrets/mentions.ts'
import { guardSecrets } from './secrets/secret-guard.ts'
import { planSecretObjects } from './secrets/secret-objects.ts'
import { checkSecretPaths } from './secrets/secret-paths.ts'
import { planVolumes } from './storage/claims.ts'
import { planFiles } from './storage/files.ts'
import { findSharedFolders } from './storage/folder-users.ts'
import { reportUnversioned } from './storage/host-volumes.ts'
import { checkImageVolumes } from './storage/image-volumes.ts'
import { checkShared } from './storage/memory-volumes.ts'
import { checkIncomplete, planMounts, surveyMounts } from './storage/mounts.ts'
import { joinFolders } from './storage/projected.ts'
import { shareConfigMaps } from './storage/shared-config-maps.ts'
import { planSharing } from './storage/shared-volumes.ts'
import type { StoredMount } from './storage/stored-mount.ts'
import { planAutoscaler } from './workload/autoscaler.ts'
import { checkCronJobNames } from './workload/cron-jobs.ts'
import { type Group, planGroups } from './workload/groups.ts'
import { completionWaits, type KindDecision, type PersistentMount, planKind } from './workload/kind.ts'
import { planWorkload } from './workload/workload.ts'

/**
 * Decides which Kubernetes objects a project needs. Reports errors and features that are lost, and returns the best
 * plan it can; the caller drops the plan if there are errors. The plan does not depend on the order of keys where the
 * order has no meaning.
 */
export function planProject(project: Project, options: PlanOptions, host: CompilerHost, reporter: Reporter): Plan {
  const environment = planEnvironment(project, options)
  const names = planNames(project, options, reporter)
  const objects = { configMaps: new Map(), secrets: new Map(), claims: new Map(), externalClaims: new Map() }
  const healthAwaited = awaitedForHealth(project)
  const found = { objects, valuesApart: new Set<string>() }
  const context: PlanContext = { project, options, host, reporter, environment, names, healthAwaited, ...found }
  checkImageOptions(context)
  checkOwnLabels(context)
  reportForeignLabels(context)
  for (const service of project.services.values()) {
    checkTarget(context, service)
    checkArguments(context, service)
  }

  const services = sortBy(project.services.values(), ({ name }) => name)
  const groups = planGroups(project, reporter)
  const { mountsOf, variablesOf } = planAllMounts(context, services)
  const mentions = findMentions(context, mountedFiles(context, services, mountsOf))
  const endpoints = endpointPorts(project)
  const awaited = completionWaits(project)
  const endpointServices = new Set(endpoints.keys())
  const kinds = new Map(
    groups.all.map(group => {
      const persistent = persistentMount(group, mountsOf)
      return [group, planKind(context, group, { waits: awaited, endpoints: endpointServices, mentions, persistent })]
    }),
  )
  const kindOf = (group: Group): KindDecision => kinds.get(group)!
  const onNode = new Set(groups.all.flatMap(({ members }) => (isOnHostNetwork(members) ? members : [])))
  const exposures = new Map(
    services.map(service => {
      context.reporter.budget.checkTime(service.span)
      const facts = { mentions, endpoints: endpoints.get(service.name) ?? [], isOnNode: onNode.has(service) }
      return [service.name, planExposure(context, service, facts)]
    }),
  )
  const exposureOf = (service: string) => exposures.get(service)!
  const clustered = findClustered(context, mentions)
  const holders = nameHolders(context, groups)
  const dotted = planDottedNames(context, { groups, kindOf, mentions, holders })
  reportRenamed(context, service => {
    const group = groups.of(service)
    return group !== undefined && dotted.of(group)?.name === service.toLowerCase()
  })
  const ownNames = new Map(
    groups.all.map(group => {
      const given = dotted.of(group)?.hostname
      return [group, planOwnNames(context, group, kindOf(group), mentions, { clustered, given, holders })]
    }),
  )
  const ownNamesOf = (group: Group) => ownNames.get(group)!
  const serviceObjects = planServiceObjects(context, {
    groups,
    kindOf,
    exposureOf,
    mentions,
    awaited,
    ownNamesOf,
    dotted,
  })

  const waiting = planStartOrder(context, groups, {
    kindOf,
    serviceOf: serviceObjects.of,
    readyServiceOf: serviceObjects.readyOf,
    waitPortOf: service => exposureOf(service).waitPort,
    directOf: group => {
      const { direct, called } = ownNamesOf(group)
      return [
        ...[...direct].map(service => ({ service, host: names.of(service) })),
        ...[...called].map(([service, { value: host }]) => ({ service, host })),
      ]
    },
  })
  const colocate = planSharing(
    context,
    groups.all.map(group => ({
      group,
      kind: kindOf(group).kind,
      mounts: group.members.flatMap(service => mountsOf(service).map(mount => ({ service, mount }))),
    })),
  )
  const allRoutes = planRoutes(context, endpoints)
  const routes = allRoutes.filter(({ isOpen }) => !isOpen)
  dotted.reportUses(new Set(allRoutes.map(({ host }) => host)))
  const networks = planNetworks(
    context,
    groups.all.map(group => ({
      service: names.of(group.lead.name),
      members: group.members,
      waits: waiting.get(group)!.waits,
    })),
    routes,
    serviceObjects.all,
  )
  const isSharedFolder = findSharedFolders(context, services, mountsOf)
  const autoscalers: AutoscalerPlan[] = []
  const workloads = groups.all.map(group => {
    context.reporter.budget.checkTime(group.lead.span)
    const decision = kindOf(group)
    const own = waiting.get(group)!
    const labels = { ...serviceObjects.labelsOf(group), ...networks.labelsOf(names.of(group.lead.name)) }
    const facts = {
      kind: decision.kind,
      waiting: own,
      colocate: colocate.get(group) ?? [],
      labels,
      mountsOf,
      variablesOf,
      exposureOf,
      isSharedFolder,
      hostname: ownNamesOf(group).hostname,
      subdomain: dotted.of(group)?.subdomain,
    }
    const workload = planWorkload(context, group, decision, planPod(context, group, facts), own)
    const autoscaler = planAutoscaler(context, group, workload)
    if (autoscaler) autoscalers.push(autoscaler)
    return workload
  })
  for (const workload of workloads) checkPodSize(context, workload)
  checkCronJobNames(reporter, workloads)
  for (const service of services) checkImageUser(context, service)
  const lasting = groups.all.filter(group => kindOf(group).kind !== 'Job').map(({ members }) => members)
  for (const service of lasting.flat()) checkImageVolumes(context, service)
  const isPortless = ({ name }: Service) => exposureOf(name).servicePorts.length === 0
  reportUnknownImages(context, services, lasting.filter(members => members.every(isPortless)).flat())
  checkSecretPaths(context)
  const secrets = planSecretObjects(context)
  const images = imagesOf(services, workloads, names.of)
  const pieced = addPieces(context, groups.all, {
    workloads: sortBy(workloads, ({ name }) => name),
    services: serviceObjects.all,
    routes,
    openRoutes: allRoutes.filter(({ isOpen }) => isOpen),
    claims: byName(objects.claims),
  })
  const made: Omit<Plan, 'objects'> = {
    environment,
    ...pieced,
    configMaps: byName(objects.configMaps),
    ...secrets,
    policies: networks.policies,
    autoscalers: sortBy(autoscalers, ({ name }) => name),
    images,
    unknownPrograms: withoutPrograms(context, lasting, workloads),
    builds: options.forBuild ? planBuilds(context, images) : [],
    ...countsOf(project),
    security: planSecurityLevel(context, services, mountsOf),
  }
  const plan: Plan = { ...made, objects: planObjects(context, made) }
  spendOutput(plan, reporter)
  guardSecrets(context, plan)
  return plan
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
        .filter(
          ({ condition, service }) => condition === 'service_healthy' && services.get(service)?.scale?.value !== 0,
        )
        .map(({ service }) => service),
    ),
  )

const byName = <T extends { readonly name: string }>(objects: ReadonlyMap<string, T>): readonly T[] =>
  sortBy(objects.values(), ({ name }) => name)

/**
 * Plans the mounts of all services, each once: volumes, devices, configs and secrets. Also plans the variables whose
 * values are configs and secrets.
 */
function planAllMounts(context: PlanContext, services: readonly Service[]): Pick<PodFacts, 'mountsOf' | 'variablesOf'> {
  const volumes = planVolumes(context)
  const mounts = surveyMounts(context, volumes)
  checkShared(context, volume => volumes.get(volume)?.kind === 'memory')
  const files = planFiles(context)
  const found = new Map(
    services.map(service => {
      context.reporter.budget.checkTime(service.span)
      const own = [...planMounts(mounts, service), ...planDevices(context, service), ...files.mounts(service)]
      return [service.name, joinFolders(own)]
    }),
  )
  checkIncomplete(mounts)
  reportUnversioned(context, mounts.hosts)
  const shared = shareConfigMaps(context, found)
  const variables = new Map(
    services.map(service => [
      service.name,
      files.variables(service).map(one => ('config' in one ? { ...one, config: shared.keyOf(one.config) } : one)),
    ]),
  )
  return {
    mountsOf: ({ name }) => shared.mounts.get(name) ?? [],
    variablesOf: ({ name }) => variables.get(name) ?? [],
  }
}

/** Yields the host files that services mount, except files that are mounted from Secrets. */
function* mountedFiles(
  { objects }: PlanContext,
  services: readonly Service[],
  mountsOf: (service: Service) => readonly StoredMount[],
): Generator<MountedFile> {
  for (const service of services)
    for (const { held, target, span } of mountsOf(service)) {
      const sources = held.kind === 'projected' ? held.sources : held.kind === 'configMap' ? [held] : []
      for (const { kind, object, items, subPath } of sources) {
        const plan = kind === 'configMap' ? objects.configMaps.get(object) : undefined
        // Files of declared `configs` are read where they are declared.
        if (!plan?.path?.startsWith('services.')) continue
        const keys = items ?? [{ key: subPath ?? Object.keys(plan.data)[0]! }]
        for (const { key, ...at } of keys) {
          const path = 'path' in at ? `${target.replace(/\/$/, '')}/${at.path}` : target
          yield { service: service.name, path, bytes: plan.data[key]!, span }
        }
      }
    }
}

/**
 * Returns the first mount of a group that keeps data, which makes the group a StatefulSet; undefined if there is none.
 * Ignores a data folder that is mounted only because it is inside a copied folder.
 */
function persistentMount(
  group: Group,
  mountsOf: (service: Service) => readonly StoredMount[],
): PersistentMount | undefined {
  for (const service of group.members)
    for (const { held, span, target, isPart } of mountsOf(service)) {
      if (isPart) continue
      if (held.kind === 'claim') return { service: service.name, description: held.description, span }
      if (held.kind === 'anonymous')
        return { service: service.name, description: `the anonymous volume \`${target}\``, span }
      if (held.kind === 'nfs') return { service: service.name, description: `the volume at \`${target}\``, span }
    }
  return undefined
}

/** Returns the ports that endpoints route to, by service. */
function endpointPorts(project: Project): ReadonlyMap<string, readonly EndpointPort[]> {
  const found = new Map<string, EndpointPort[]>()
  for (const { rules } of project.endpoints?.endpoints ?? [])
    for (const { service, port } of rules) {
      const list = found.get(service.value)
      const own = { port: port.value, span: port.span }
      if (list) list.push(own)
      else found.set(service.value, [own])
    }
  return found
}

function countsOf({ services }: Project): Pick<Plan, 'serviceCount' | 'jobCount'> {
  const jobCount = [...services.values()].filter(({ triggers }) => triggers !== undefined).length
  return { serviceCount: services.size - jobCount, jobCount }
}
