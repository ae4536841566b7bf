import type { Network, Service } from '../../compose/project.ts'
import { diagnostic } from '../../diagnostics/diagnostic.ts'
import { type PlanContext, sortBy, sourceOf } from '../context.ts'
import { toAnnotations } from '../labels/annotations.ts'
import { cutName, distinctNames, renameRepeated, toDnsLabel } from '../object-names.ts'
import type { NetworkPolicyPlan, PolicyPeerRule, RoutePlan, ServicePlan, WaitPlan } from '../plan.ts'
import { isOnHostNetwork } from '../pod/pod-settings.ts'
import { byPort } from './exposure.ts'
import { hostModePorts } from './internal-networks.ts'
import { findSameNetworks } from './same-network.ts'

const externalNetwork = diagnostic({
  code: 'network/external',
  severity: 'warning',
  loss: true,
  explain:
    'An external network connects services of several applications. In a cluster all Pods can reach each other unless a policy forbids it, so services on an external network accept connections from everywhere.',
  text: (p: { network: string }) => ({
    message: `the external network \`${p.network}\` is treated as the whole cluster: its services accept connections from everywhere`,
  }),
})

const jobFromInternal = diagnostic({
  code: 'network/job-wait',
  severity: 'warning',
  explain:
    'The service waits for a Job, for which it queries the API server of the cluster. All of its networks are internal, which blocks egress. The NetworkPolicy opens TCP 443 and 6443, where API servers listen.',
  text: (p: { service: string }) => ({
    message: `\`${p.service}\` waits for a Job, so its internal network allows egress to ports 443 and 6443`,
    hint: 'render with `--start-order client`, or give it another network',
  }),
})

/**
 * Label of Pods whose ingress (`separate`) or ingress and egress (`internal`) is controlled by policies from the
 * Compose file. Namespace-wide policies of other authors can exclude these Pods, as the platform's own policies do.
 */
const TRAFFIC = 'dev.platform/traffic'
const separateLabel: Readonly<Record<string, string>> = { [TRAFFIC]: 'separate' }
const internalLabel: Readonly<Record<string, string>> = { [TRAFFIC]: 'internal' }

/** The facts about a Pod that network policies need. */
export interface PolicyPod {
  /** Kubernetes name of the group's lead, which is the first of `members`. */
  readonly service: string
  readonly members: readonly Service[]
  readonly waits: readonly WaitPlan[]
}

export interface NetworkPlan {
  readonly policies: readonly NetworkPolicyPlan[]
  /**
   * Returns the labels by which the policies select the Pods of a group. `service` is the Kubernetes name of the
   * group's lead, its first member.
   */
  labelsOf(service: string): Readonly<Record<string, string>>
}

/**
 * Plans policies if the file separates its services: with two or more networks, or with an internal network. A Pod then
 * accepts connections from Pods that share a network with it, and from any address on its public ports. Pods without a
 * network (`network_mode: none`) are always cut off.
 */
export function planNetworks(
  context: PlanContext,
  pods: readonly PolicyPod[],
  routes: readonly RoutePlan[],
  services: readonly ServicePlan[],
): NetworkPlan {
  const networksOf = networkReader(context)
  const used = usedNetworks(context, pods, networksOf)
  const cutOff = pods.filter(hasNoNetwork)
  const labels = new Map(cutOff.map(({ service }) => [service, internalLabel]))
  const labelsOf = (service: string) => labels.get(service) ?? {}
  if (!separates(used)) return { policies: cutOff.map(pod => denyAll(context, pod)), labelsOf }
  const names = distinctNames(
    used.map(({ key }) => key),
    key => toDnsLabel(key, 50),
    50,
  )
  const internal = new Set(used.filter(network => network.internal).map(({ key }) => key))
  const isInternal = (pod: PolicyPod) => hasNetworks(pod) && networksOf(pod.members).every(key => internal.has(key))
  for (const pod of pods) {
    const own = networksOf(pod.members)
    if (own.length > 0)
      labels.set(pod.service, {
        ...(isInternal(pod) ? internalLabel : separateLabel),
        ...Object.fromEntries(own.map(key => [`network.devctl/${names.get(key) ?? key}`, 'true'])),
      })
  }
  const podPort = podPortReader(services)
  const policies = [
    ...used.flatMap(network =>
      networkPolicies(
        context,
        network,
        names.get(network.key)!,
        pods.filter(({ members }) => networksOf(members).includes(network.key)).map(isInternal),
      ),
    ),
    ...publicPolicies(context, pods, routes, services, podPort),
    ...waitPolicies(context, pods, { isInternal, networksOf, podPort }),
    ...cutOff.map(pod => denyAll(context, pod)),
  ]
  const keyOf = ({ podLabels }: NetworkPolicyPlan) => JSON.stringify(podLabels)
  const named = renameRepeated(sortBy(policies, keyOf), keyOf, 240)
  return { policies: sortBy(named, ({ name }) => name), labelsOf }
}

/** Returns true for a group without a network (`network_mode: none`): nobody reaches it, and it reaches nobody. */
export const hasNoNetwork = ({ members }: Pick<PolicyPod, 'members'>): boolean =>
  members.some(({ networkMode }) => networkMode?.value === 'none')

const separates = (used: readonly Network[]): boolean => used.length > 1 || used.some(({ internal }) => internal)

/** Returns a function that is true for groups whose ingress is limited by policies. */
export function findProtected(context: PlanContext, groups: readonly Pick<PolicyPod, 'members'>[]) {
  const isSeparated = separates(usedNetworks(context, groups, networkReader(context)))
  return ({ members }: Pick<PolicyPod, 'members'>): boolean => isSeparated && hasNetworks({ members })
}

/**
 * Returns true if a member of a group is in a network. Other groups get no policy, because a policy would refuse
 * connections that Compose allows.
 */
const hasNetworks = ({ members }: Pick<PolicyPod, 'members'>): boolean =>
  members.some(({ networks }) => networks.length > 0)

/** Returns the keys of the networks of a group, sorted, each network once. */
type NetworksOf = (members: readonly Service[]) => readonly string[]

function networkReader({ project }: PlanContext): NetworksOf {
  const sameOf = findSameNetworks(project)
  return members => [...new Set(members.flatMap(({ networks }) => networks.map(({ name }) => sameOf(name))))].sort()
}

function usedNetworks(
  { project }: PlanContext,
  pods: readonly Pick<PolicyPod, 'members'>[],
  networksOf: NetworksOf,
): readonly Network[] {
  const keys = new Set(pods.flatMap(({ members }) => networksOf(members)))
  return sortBy(
    [...project.networks.values()].filter(({ key }) => keys.has(key)),
    ({ key }) => key,
  )
}

/**
 * Returns the policies for the Pods of a network. They limit ingress to connections from these Pods. `areInternal` has
 * one entry for each Pod: true if all networks of the Pod are internal. Egress is limited, to the Pods of the network
 * and DNS, only for Pods whose entry is true. Policies are additive, so a Pod that is also in other networks would need
 * a second policy that opens egress again. Such a policy would also open egress that the cluster's operators have
 * closed.
 */
function networkPolicies(
  context: PlanContext,
  network: Network,
  name: string,
  areInternal: readonly boolean[],
): readonly NetworkPolicyPlan[] {
  const podLabels = { [`network.devctl/${name}`]: 'true' }
  if (network.external) context.reporter.report(externalNetwork, network.span, { network: network.key })
  const ingress: readonly PolicyPeerRule[] = network.external ? [{}] : [{ podLabels }]
  const egress: readonly PolicyPeerRule[] = [{ podLabels }, { dns: true }]
  const policy = {
    name: cutName(`${context.environment.name}-network-${name}`, 240),
    source: sourceOf(context, network.span, ['networks', network.key]),
    span: network.span,
    annotations: toAnnotations(context, network.labels),
    podLabels,
  }
  if (!areInternal.includes(true)) return [{ ...policy, ingress }]
  if (!areInternal.includes(false)) return [{ ...policy, ingress, egress }]
  const inner = {
    ...policy,
    name: cutName(`${context.environment.name}-internal-${name}`, 240),
    podLabels: { ...internalLabel, ...podLabels },
  }
  return [
    { ...policy, ingress },
    { ...inner, egress },
  ]
}

/**
 * Plans policies that allow connections from any address: to ports with a public route, because the location of the
 * ingress controller is not known, to ports with `x-expose`, and to ports of the node.
 */
function publicPolicies(
  context: PlanContext,
  pods: readonly PolicyPod[],
  routes: readonly RoutePlan[],
  services: readonly ServicePlan[],
  podPort: PodPort,
): readonly NetworkPolicyPlan[] {
  const leads = new Map(
    pods.flatMap(({ service, members }) => members.map(member => [context.names.of(member.name), service] as const)),
  )
  const ports = new Map<string, Set<string>>()
  const open = (lead: string, port: number, protocol: string) =>
    ports.set(lead, (ports.get(lead) ?? new Set()).add(`${port}/${protocol}`))
  for (const { exposed, selects, ports: own } of services)
    if (exposed && 'service' in selects)
      for (const { targetPort, protocol } of own) open(selects.service, targetPort, protocol)
  for (const { rules } of routes)
    for (const { service, port } of rules) {
      const lead = leads.get(service)
      if (lead === undefined) continue
      open(lead, podPort(service, port), 'TCP')
    }
  for (const { service, members } of pods)
    for (const { target, protocol } of members.flatMap(member => hostModePorts(context.project, member)))
      open(service, target, protocol)
  return pods.filter(hasNetworks).flatMap(pod => {
    const own = ports.get(pod.service)
    const [lead] = pod.members
    if (!own || !lead) return []
    const allowed = [...own]
      .map(key => ({ port: Number.parseInt(key, 10), protocol: key.split('/')[1] as 'TCP' | 'UDP' | 'SCTP' })) // as `open` writes it
      .sort(byPort)
    return [{ ...policyOf(context, pod, lead, 'public'), ingress: [{ ports: allowed }] }]
  })
}

/** Facts about all Pods that policies depend on. */
interface PolicyFacts {
  readonly isInternal: (pod: PolicyPod) => boolean
  readonly networksOf: NetworksOf
  readonly podPort: PodPort
}

/** Plans policies that let waiting Pods reach the Pods they wait for, even if they share no network. */
function waitPolicies(
  context: PlanContext,
  pods: readonly PolicyPod[],
  { isInternal, networksOf, podPort }: PolicyFacts,
): readonly NetworkPolicyPlan[] {
  const byService = new Map(
    pods.flatMap(pod => pod.members.map(member => [context.names.of(member.name), pod] as const)),
  )
  const ingress = new Map<PolicyPod, PolicyPeerRule[]>()
  const found: NetworkPolicyPlan[] = []
  for (const pod of pods) {
    const [lead] = pod.members
    if (!lead) continue
    const own = networksOf(pod.members)
    const egress: PolicyPeerRule[] = []
    for (const wait of pod.waits) {
      const target = byService.get(wait.service)
      if (wait.kind !== 'port' || !target || networksOf(target.members).some(key => own.includes(key))) continue
      const ports = wait.ports.map(port => ({ port: podPort(wait.host, port), protocol: 'TCP' as const }))
      if (hasNetworks(target)) ingress.set(target, [...(ingress.get(target) ?? []), { ...peerOf(pod), ports }])
      egress.push({ ...peerOf(target), ports })
    }
    if (isInternal(pod) && pod.waits.some(({ kind }) => kind === 'job')) {
      context.reporter.report(jobFromInternal, lead.span, { service: lead.name })
      egress.push({ ports: [443, 6443].map(port => ({ port, protocol: 'TCP' as const })) })
    }
    if (isInternal(pod) && egress.length > 0) found.push({ ...policyOf(context, pod, lead, 'waits-for'), egress })
  }
  for (const [pod, rules] of ingress) {
    const [lead] = pod.members
    if (lead) found.push({ ...policyOf(context, pod, lead, 'awaited'), ingress: rules })
  }
  return found
}

/** Returns the rule for connections from or to a Pod. On the network of its node, a Pod has the address of the node. */
const peerOf = ({ service, members }: PolicyPod): PolicyPeerRule =>
  isOnHostNetwork(members) ? {} : { podLabels: { 'dev.platform/service': service } }

/**
 * Returns the port of the Pods behind a TCP port of a Service, because policies refer to Pod ports. Returns the same
 * number for an unknown Service or port.
 */
type PodPort = (service: string, port: number) => number

function podPortReader(services: readonly ServicePlan[]): PodPort {
  const objects = new Map(services.map(service => [service.name, service]))
  return (service, port) =>
    objects.get(service)?.ports.find(one => one.port === port && one.protocol === 'TCP')?.targetPort ?? port
}

function denyAll(context: PlanContext, pod: PolicyPod): NetworkPolicyPlan {
  return { ...policyOf(context, pod, pod.members[0]!, 'none'), ingress: [], egress: [] }
}

function policyOf({ environment, ...context }: PlanContext, pod: PolicyPod, lead: Service, what: string) {
  return {
    name: cutName(`${environment.name}-${pod.service}-${what}`, 240),
    source: sourceOf(context, lead.span, ['services', lead.name]),
    service: pod.service,
    span: lead.span,
    podLabels: { 'dev.platform/service': pod.service },
  }
}
