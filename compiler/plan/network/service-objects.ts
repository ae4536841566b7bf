import type { Service } from '../../compose/project.ts'
import { type PlanContext, sortBy, sourceOf } from '../context.ts'
import { serviceAnnotations } from '../labels/annotations.ts'
import type { ServicePlan, ServicePort } from '../plan.ts'
import type { Mentions } from '../secrets/mentions.ts'
import type { Group, Groups } from '../workload/groups.ts'
import type { KindDecision } from '../workload/kind.ts'
import { aliasLabel } from './alias-label.ts'
import { type Alias, planAliases } from './aliases.ts'
import type { DottedNames, PodName } from './dotted-names.ts'
import { freeName, planExposedServices, reportSameNodePorts } from './exposed-services.ts'
import { byPort, type Exposure } from './exposure.ts'
import { type OwnNames, reportEarlyPorts } from './own-names.ts'

export interface ServiceObjects {
  /** All Services, including aliases, sorted by name. */
  readonly all: readonly ServicePlan[]
  /** Returns the Service of a Compose service; undefined for a task that no service reaches by name. */
  of(service: string): ServicePlan | undefined
  /**
   * Returns the additional Service that routes to a Compose service only while it is ready. Undefined if the main
   * Service already does so.
   */
  readyOf(service: string): ServicePlan | undefined
  /** Returns the labels that the Pods of a group need so that a Service shared by several groups can select them. */
  labelsOf(group: Group): Readonly<Record<string, string>>
}

interface Facts {
  readonly groups: Groups
  readonly kindOf: (group: Group) => KindDecision
  readonly exposureOf: (service: string) => Exposure
  readonly mentions: Mentions
  /** Services whose completion other services wait for. */
  readonly awaited: { has(service: string): boolean }
  readonly ownNamesOf: (group: Group) => OwnNames
  readonly dotted: DottedNames
}

/** Plans the Services: one for each Compose service and one for each alias. */
export function planServiceObjects(context: PlanContext, facts: Facts): ServiceObjects {
  const own = new Map<string, ServicePlan>()
  for (const group of facts.groups.all) {
    const ports = groupPorts(facts, group)
    for (const member of group.members) {
      const plan = planService(context, facts, group, { service: member, ports })
      if (plan) own.set(member.name, plan)
    }
  }
  const calledOf = (service: string) => {
    const group = facts.groups.of(service)
    return group && facts.ownNamesOf(group).called.get(service)
  }
  const aliases = planAliases(context, { mentions: facts.mentions, dotted: facts.dotted, calledOf })
  const labels = new Map<Group, Record<string, string>>()
  const aliasPlans = aliases.flatMap(alias => planAlias(context, facts, own, labels, alias))
  const named = [...own.values(), ...aliasPlans]
  const inside = [...named, ...planSubdomains(context, facts, labels, new Set(named.map(({ name }) => name)))]
  reportSameNodePorts(context)
  const taken = new Set(inside.map(({ name }) => name))
  const ready = planReady(context, own, taken)
  const exposed = facts.groups.all.flatMap(({ lead, members }) =>
    members.flatMap(one => planExposedServices(context, one, context.names.of(lead.name), taken)),
  )
  return {
    all: sortBy([...inside, ...ready.values(), ...exposed], ({ name }) => name),
    of: service => own.get(service),
    readyOf: service => ready.get(service),
    labelsOf: group => labels.get(group) ?? {},
  }
}

function planService(
  context: PlanContext,
  facts: Facts,
  group: Group,
  { service, ports }: { readonly service: Service; readonly ports: readonly ServicePort[] },
): ServicePlan | undefined {
  if (isTask(facts, group, service, ports)) return undefined
  const name = context.names.of(service.name)
  const [port] = service.ports
  const { early, direct } = facts.ownNamesOf(group)
  const isDirect = direct.has(service.name)
  if (isDirect) reportEarlyPorts(context, facts.mentions, service, ports)
  return {
    name,
    service: name,
    source: sourceOf(context, service.span, ['services', service.name, ...(port ? ['ports'] : [])]),
    span: port?.span ?? service.span,
    annotations: serviceAnnotations(context, service),
    selects: { service: context.names.of(group.lead.name) },
    ports,
    headless: isDirect || ports.length === 0 || service.deploy.endpointMode?.value === 'dnsrr',
    ...(early.has(service.name) && { publishesNotReady: true as const }),
  }
}

/**
 * Plans the headless Services for dotted names. The cluster resolves `HOSTNAME.SUBDOMAIN` if a Pod sets both as its
 * `hostname` and `subdomain`, and a Service with the name of the subdomain selects the Pod. Several Pods can share a
 * subdomain. No Service is added if the subdomain is already the name of a Service.
 */
function planSubdomains(
  context: PlanContext,
  { groups, mentions, dotted }: Facts,
  labels: Map<Group, Record<string, string>>,
  known: ReadonlySet<string>,
): readonly ServicePlan[] {
  const found = new Map<string, { readonly group: Group; readonly name: PodName }[]>()
  for (const group of groups.all) {
    const name = dotted.of(group)
    if (name && !known.has(name.subdomain))
      found.set(name.subdomain, [...(found.get(name.subdomain) ?? []), { group, name }])
  }
  return [...found].map(([subdomain, list]) => {
    const [{ group, name }] = list as [(typeof list)[0], ...typeof list] // a list is made with its first name
    const label = aliasLabel(subdomain)
    if (list.length > 1)
      for (const one of list) labels.set(one.group, Object.assign(labels.get(one.group) ?? {}, { [label]: 'true' }))
    const owner = context.project.services.get(name.service)!
    const isEarly = list.some(one => mentions.ofItself(one.name.service).some(({ host }) => host === one.name.name))
    return {
      name: subdomain,
      service: context.names.of(name.service),
      source: sourceOf(context, name.span, ['services', name.owner, ...(name.key ? name.key.split('.') : [])]),
      span: name.span,
      annotations: serviceAnnotations(context, owner),
      selects: list.length > 1 ? { label } : { service: context.names.of(group.lead.name) },
      ports: [],
      headless: true,
      ...(isEarly && { publishesNotReady: true as const }),
    }
  })
}

/**
 * Plans additional Services for services that are reachable before they are ready, so that other services can wait for
 * their readiness. Adds the names of the additional Services to `taken`.
 */
function planReady(
  { project, names, healthAwaited }: PlanContext,
  own: ReadonlyMap<string, ServicePlan>,
  taken: Set<string>,
): ReadonlyMap<string, ServicePlan> {
  const found = new Map<string, ServicePlan>()
  for (const [service, { publishesNotReady, ...plan }] of own) {
    if (!publishesNotReady || !healthAwaited.has(service)) continue
    const { endpointMode } = project.services.get(service)!.deploy
    const name = freeName(`${names.of(service)}-ready`, taken)
    found.set(service, { ...plan, name, headless: plan.ports.length === 0 || endpointMode?.value === 'dnsrr' })
  }
  return found
}

/**
 * Returns true for a Job that offers nothing to other services: it listens on no port and is not used as a host name.
 * In addition, other services have to wait for its completion, or a CronJob has to start it. A Service of such a Job
 * would stop resolving when the Job completes.
 */
function isTask(facts: Facts, group: Group, service: Service, ports: readonly ServicePort[]): boolean {
  const decision = facts.kindOf(group)
  return (
    decision.kind === 'Job' &&
    !decision.job?.isServer &&
    ports.length === 0 &&
    (facts.awaited.has(service.name) || group.lead.triggers !== undefined) &&
    facts.mentions.of(service.name).length === 0
  )
}

/**
 * Returns the ports of a group. The containers of a Pod share its network, so the name of each service resolves to the
 * ports of all services in the group.
 */
function groupPorts(facts: Facts, group: Group): readonly ServicePort[] {
  if (group.members.length === 1) return facts.exposureOf(group.lead.name).servicePorts
  const exposures = group.members.map(member => facts.exposureOf(member.name))
  return unitePorts([
    // A container port overrides a published port with the same number.
    ...exposures.map(({ servicePorts }) => servicePorts.filter(port => port.port === port.targetPort)),
    ...exposures.map(({ servicePorts }) => servicePorts.filter(port => port.port !== port.targetPort)),
  ])
}

function unitePorts(lists: readonly (readonly ServicePort[])[]): readonly ServicePort[] {
  const found = new Map<string, ServicePort>()
  const names = new Set<string>()
  for (const port of lists.flat()) {
    const key = `${port.port}/${port.protocol}`
    if (found.has(key)) continue
    const name = names.has(port.name) ? `${port.protocol.toLowerCase()}-${port.port}` : port.name
    names.add(name)
    found.set(key, { ...port, name })
  }
  return [...found.values()].sort(byPort)
}

function planAlias(
  context: PlanContext,
  facts: Facts,
  own: ReadonlyMap<string, ServicePlan>,
  labels: Map<Group, Record<string, string>>,
  alias: Alias,
): readonly ServicePlan[] {
  const owner = context.project.services.get(alias.services[0] ?? alias.owner)!
  const base = {
    name: alias.name,
    service: context.names.of(owner.name),
    source: sourceOf(context, alias.span, ['services', alias.owner, ...alias.key.split('.')]),
    span: alias.span,
    annotations: serviceAnnotations(context, owner),
  }
  if (alias.externalName !== undefined)
    return [
      { ...base, selects: { service: base.service }, ports: [], headless: false, externalName: alias.externalName },
    ]
  const targets = alias.services.flatMap(service => own.get(service) ?? [])
  const [first] = targets
  if (!first) return []
  if (targets.length === 1) return [{ ...first, ...base }]
  // Several services share the name, so their Pods get a label that the Service selects.
  const label = aliasLabel(alias.name)
  for (const service of alias.services) {
    const group = facts.groups.of(service)
    if (group) labels.set(group, Object.assign(labels.get(group) ?? {}, { [label]: 'true' }))
  }
  const isHeadless = targets.some(({ headless }) => headless)
  const ports = isHeadless ? [] : unitePorts(targets.map(target => target.ports))
  return [{ ...base, selects: { label }, ports, headless: isHeadless }]
}
