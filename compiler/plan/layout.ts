import type { Project, Service } from '../compose/project.ts'
import type { PlanContext } from './context.ts'
import { reportRenamed } from './names.ts'
import { type DottedNames, nameHolders, planDottedNames } from './network/dotted-names.ts'
import { type EndpointPort, type Exposure, planExposure } from './network/exposure.ts'
import { findClustered, type OwnNames, planOwnNames } from './network/own-names.ts'
import { planServiceObjects, type ServiceObjects } from './network/service-objects.ts'
import { isOnHostNetwork } from './pod/pod-settings.ts'
import { findMentions, type MountedFile } from './secrets/mentions.ts'
import type { StoredMount } from './storage/stored-mount.ts'
import type { Group, Groups } from './workload/groups.ts'
import { completionWaits, type KindDecision, type PersistentMount, planKind } from './workload/kind.ts'

type MountsOf = (service: Service) => readonly StoredMount[]

/** Decisions about the services that other decisions depend on: which Pods they share, and how Pods reach them. */
export interface ServiceLayout {
  readonly groups: Groups
  readonly kindOf: (group: Group) => KindDecision
  readonly exposureOf: (service: string) => Exposure
  /** Returns the names by which a Pod reaches itself. */
  readonly ownNamesOf: (group: Group) => OwnNames
  readonly dotted: DottedNames
  readonly serviceObjects: ServiceObjects
  /** Ports that endpoints route to, by service. */
  readonly endpoints: ReadonlyMap<string, readonly EndpointPort[]>
}

/**
 * Decides the kind of each workload, the ports and names of the services, and their Service objects. `services` are all
 * services in sorted order. The result does not depend on the order of the files.
 */
export function planLayout(
  context: PlanContext,
  groups: Groups,
  services: readonly Service[],
  mountsOf: MountsOf,
): ServiceLayout {
  const { project } = context
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
  const kindOf = (group: Group) => kinds.get(group)!
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
  const facts = { groups, kindOf, exposureOf, mentions, awaited, ownNamesOf, dotted }
  return {
    groups,
    kindOf,
    exposureOf,
    ownNamesOf,
    dotted,
    serviceObjects: planServiceObjects(context, facts),
    endpoints,
  }
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
