import type { Dependency, Service } from '../../compose/project.ts'
import { circle } from '../../diagnostics/circle.ts'
import { diagnostic } from '../../diagnostics/diagnostic.ts'
import { kubectlImage, type PlanContext, shellImage, sortBy } from '../context.ts'
import { findProtected, hasNoNetwork } from '../network/network-policies.ts'
import type { DependencyPlan, ServicePlan, WaitPlan, WorkloadPlan } from '../plan.ts'
import { lasts } from '../pod/one-shot.ts'
import { type Group, type Groups, isLeadAwaited, joiningKeys } from '../workload/groups.ts'
import type { KindDecision } from '../workload/kind.ts'
import { kindWords } from '../workload/update-policy.ts'
import { type Edge, findCycles } from './cycles.ts'

const cycle = diagnostic({
  code: 'groups/cycle',
  severity: 'error',
  explain: `Services that share a namespace (\`network_mode: service:x\`) form one Pod, which waits for the dependencies of all of them before it starts. So Pods can depend on each other in a cycle even though their services do not. Remove one of the dependencies, or let the waiting service retry.`,
  text: (p: { path: readonly string[] }) => ({
    message: `the Pods of these services depend on each other in a cycle: ${circle(p.path)}`,
    hint: 'remove one of the dependencies',
  }),
})

const healthyJob = diagnostic({
  code: 'depends-on/healthy-job',
  severity: 'error',
  explain: `\`service_healthy\` waits for a server. This service is a Job without ports and without a healthcheck: it runs once and exits, so it never becomes healthy.

\`\`\`yaml
depends_on:
  migrate:
    condition: service_completed_successfully
\`\`\``,
  text: (p: { service: string }) => ({
    message: `\`${p.service}\` is a Job without ports and healthcheck, so it never becomes healthy`,
    hint: 'use `service_completed_successfully`',
  }),
})

const notAJob = diagnostic({
  code: 'depends-on/not-a-job',
  severity: 'error',
  explain: `\`service_completed_successfully\` waits until a service has exited. This one never completes: its restart policy is \`always\`, it runs on every node, or it runs in the Pod of a service that lasts.

\`\`\`yaml
services:
  migrate:
    restart: "no"
\`\`\`

A container in the Pod of another service (\`network_mode: service:db\`) may run once, but Kubernetes reports the completion of Pods only. To let others wait for it, remove the key that joins the Pod: the service becomes a Job, and reaches the other one by its name instead of \`localhost\`.

\`\`\`yaml
services:
  migrate:
    command: migrate --host db     # not localhost
    depends_on:
      db: {condition: service_healthy}
    restart: "no"
\`\`\``,
  text: (p: {
    service: string
    kind: string
    pod?: { lead: string; keys: readonly string[]; isRestarted: boolean }
  }) =>
    p.pod === undefined
      ? {
          message: `\`${p.service}\` is a ${p.kind}, which never completes`,
          hint: `write \`restart: "no"\` in \`${p.service}\`, or wait for \`service_healthy\``,
        }
      : {
          message: `\`${p.service}\` runs in the Pod of \`${p.pod.lead}\`, a ${p.kind}, which never completes`,
          hint: `remove ${p.pod.keys.map(key => `\`${key}\``).join(' and ')} from \`${p.service}\`${p.pod.isRestarted ? ' and write `restart: "no"`' : ''}, which makes it a Job${p.pod.keys.some(key => key.startsWith('network_mode')) ? `; it reaches \`${p.pod.lead}\` by its name instead of \`localhost\`` : ''}`,
        },
})

const completionInGroup = diagnostic({
  code: 'depends-on/completion-in-group',
  severity: 'error',
  explain:
    'Services that share a namespace are containers of one Pod and run at the same time. One of them cannot wait until another has completed. Give them separate namespaces, or make the first step a `pre_start` hook.',
  text: (p: { service: string; member: string; keys: readonly string[]; isRestarted: boolean }) => ({
    message: `\`${p.service}\` is a container of the same Pod, so this service cannot wait until it completes`,
    hint: `remove ${p.keys.map(key => `\`${key}\``).join(' and ')} from \`${p.member}\`${p.isRestarted ? ` and write \`restart: "no"\` in \`${p.service}\`` : ''}: \`${p.service}\` is then a Job of its own; or make it a \`pre_start\` hook`,
  }),
})

const noTcpPort = diagnostic({
  code: 'depends-on/no-tcp-port',
  severity: 'warning',
  loss: true,
  explain:
    'An init container waits for a service by connecting to one of its TCP ports. This service has UDP or SCTP ports only, so the manifests cannot wait for it. `devctl deploy` waits until it is ready.',
  text: (p: { service: string }) => ({
    message: `the manifests cannot wait for \`${p.service}\`: it has no TCP port to connect to`,
    hint: `add a TCP port for a healthcheck with \`expose\``,
  }),
})

const noReplicas = diagnostic({
  code: 'depends-on/no-replicas',
  severity: 'info',
  explain:
    'The service has zero replicas, so none of its containers runs. As in Compose, services that depend on it start without it, whatever the condition. The number of replicas is `scale` or `deploy.replicas`; in a Pod that services share, it is that of the service whose namespaces are shared.',
  text: (p: { service: string }) => ({
    message: `\`${p.service}\` has 0 replicas, so nothing waits for it`,
  }),
})

/** The waits and dependencies of a group. */
export interface GroupWaits {
  readonly waits: readonly WaitPlan[]
  readonly dependencies: readonly DependencyPlan[]
  /**
   * Kubernetes names of services. If the workload of such a service changes, the Pods of this group are replaced, too.
   */
  readonly restartsWith: readonly string[]
  /** Members that other members wait for, and `lasting` members, in the order in which they must start. */
  readonly sidecars: readonly string[]
  /** Members of the Pod of a Job that keep running and that no other member waits for. They end with the Job. */
  readonly lasting: readonly string[]
}

/** The facts about all groups that are known before their waits are planned. */
export interface GroupFacts {
  kindOf(group: Group): KindDecision
  /** Returns the Service object of a Compose service; undefined for a task that has none. */
  serviceOf(service: string): ServicePlan | undefined
  /**
   * Returns the additional Service that routes to a Compose service only while it is ready. Undefined if the main
   * Service already does so.
   */
  readyServiceOf(service: string): ServicePlan | undefined
  /** Returns the TCP ports of a service, of which one accepts a connection once the service is available. */
  waitPortsOf(service: string): readonly number[]
  /**
   * Returns the host names that resolve to the group's own Pod as soon as the cluster's DNS knows its address, each
   * with the member it belongs to.
   */
  directOf(group: Group): readonly { readonly service: string; readonly host: string }[]
}

/**
 * Checks `depends_on` and plans the waits of each group for other groups, which combine the waits of its members. With
 * the start order `client`, devctl itself waits between applies. The manifests then wait only for connections: to
 * services without a healthcheck, and from Jobs to services behind a network policy. A Job behind the policy has to
 * wait because node agents admit a new Pod with a delay, and a Job whose first connection is refused has failed. Pods
 * without a network wait for nothing, because they reach nothing.
 */
export function planStartOrder(
  context: PlanContext,
  groups: Groups,
  facts: GroupFacts,
): ReadonlyMap<Group, GroupWaits> {
  reportCycles(context, groups)
  const isProtected = findProtected(context, groups.all)
  return new Map(groups.all.map(group => [group, planWaiting(context, groups, { ...facts, isProtected }, group)]))
}

interface WaitingFacts extends GroupFacts {
  isProtected(group: Group): boolean
}

function planWaiting(context: PlanContext, groups: Groups, facts: WaitingFacts, group: Group): GroupWaits {
  const { kind } = facts.kindOf(group)
  const isJob = kind === 'Job'
  // A DaemonSet ignores the number of replicas and always runs.
  const isStarted = kind === 'DaemonSet' || group.lead.scale?.value !== 0
  const waits = new Map<string, WaitPlan>()
  const dependencies = new Map<string, DependencyPlan>()
  const awaited = new Set<string>()
  const restartsWith = new Set<string>()
  for (const member of group.members)
    for (const dependency of member.dependsOn) {
      const target = groups.of(dependency.service)
      // The loader reports dependencies on services that no file or profile defines.
      if (!target) continue
      if (target === group) {
        if (!isEmpty(context, dependency, target, kind) && isSidecarWait(context, dependency, member, target))
          awaited.add(dependency.service)
        continue
      }
      const isAwaited = !isEmpty(context, dependency, target, facts.kindOf(target).kind)
      if (isAwaited && !isPossible(context, dependency, facts.kindOf(target), target)) continue
      const service = context.names.of(target.lead.name)
      // Compose adds dependencies for `links` and others, which a changed address there breaks; a Service has none.
      if (dependency.restart && !dependency.implicit) restartsWith.add(service)
      const condition = isAwaited && isStarted ? dependency.condition : 'service_started'
      dependencies.set(`${service} ${condition}`, { service, condition })
      if (!isAwaited || hasNoNetwork(group)) continue
      const isClient = context.options.startOrder === 'client'
      if (isClient && !(isJob && facts.isProtected(target)) && !needsConnection(dependency, target)) continue
      const wait = toWait(context, facts, dependency, service)
      if (wait?.kind === 'port' && hasNoNetwork(target)) continue
      if (wait && (!isClient || wait.kind === 'port')) waits.set(`${wait.service} ${wait.kind}`, wait)
    }
  // A server that listens on its own name exits at once if the name does not resolve yet.
  for (const { service: direct, host } of facts.directOf(group)) {
    const service = context.names.of(direct)
    waits.set(`${service} name ${host}`, { kind: 'name', service, host, image: shellImage(context) })
  }
  const lasting = isJob ? lastingMembers(context, group).filter(name => !awaited.has(name)) : []
  return {
    waits: sortBy(waits.values(), wait => `${wait.service} ${wait.kind}`),
    dependencies: sortBy(dependencies.values(), ({ service, condition }) => `${service} ${condition}`),
    restartsWith: [...restartsWith].sort(),
    sidecars: orderWithin(group, new Set([...awaited, ...lasting])),
    lasting,
  }
}

/**
 * Returns the members of a Job's Pod that keep running. As plain containers they would keep the Job from completing.
 * Returns none if a member waits for the lead: the lead is then a sidecar, too, and the Pod would have only sidecars.
 */
function lastingMembers(context: PlanContext, group: Group): readonly string[] {
  const [, ...others] = group.members
  return isLeadAwaited(group) ? [] : others.filter(member => lasts(context, member)).map(({ name }) => name)
}

/**
 * Returns true if a service counts as healthy only when one of its ports accepts a connection. Such a service has no
 * healthcheck, and devctl runs outside the cluster and cannot connect to it.
 */
function needsConnection({ condition, service }: Dependency, { members }: Group): boolean {
  const { healthcheck } = members.find(({ name }) => name === service) ?? {}
  const isChecked =
    healthcheck?.readiness.value && healthcheck.check.kind !== 'none' && healthcheck.check.kind !== 'image'
  return condition === 'service_healthy' && !isChecked
}

/** Returns true if a wait between two members of a group turns the awaited member into a sidecar. */
function isSidecarWait(
  { reporter }: PlanContext,
  { condition, service, span }: Dependency,
  waiting: Service,
  group: Group,
): boolean {
  if (condition !== 'service_completed_successfully') return condition === 'service_healthy'
  const awaited = group.members.find(({ name }) => name === service)
  // If the awaited service joins the namespace of this one, the loader has reported the cycle.
  if (awaited?.dependsOn.some(one => one.service === waiting.name)) return false
  // The lead has no key that joins the Pod.
  const member = service === group.lead.name ? waiting : awaited
  const { isRestarted } = sharedPodOf(service, group)
  const keys = member ? joiningKeys(member).map(({ key, value }) => `${key}: ${value}`) : []
  reporter.report(completionInGroup, span, { service, member: member?.name ?? service, keys, isRestarted })
  return false
}

/**
 * Returns true if no container can meet a condition because the service has zero replicas. Compose does not wait for
 * such a service. Reports a warning.
 */
function isEmpty(
  { reporter }: PlanContext,
  { condition, service, span }: Dependency,
  { lead, members }: Group,
  kind: WorkloadPlan['kind'],
): boolean {
  const own = members.find(({ name }) => name === service)
  // A DaemonSet ignores the number of replicas.
  const scales = [lead, own].map(one => (one === lead && kind === 'DaemonSet' ? undefined : one?.scale))
  const scale = scales.find(one => one?.value === 0)
  if (!scale || condition === 'service_started') return false
  reporter.report(noReplicas, span, { service }, [{ span: scale.span, message: 'the scale is here' }])
  return true
}

function isPossible({ reporter }: PlanContext, dependency: Dependency, decision: KindDecision, target: Group): boolean {
  const { condition, service, span } = dependency
  const related = decision.because && [decision.because]
  if (condition === 'service_healthy' && decision.kind === 'Job' && !decision.job?.isServer) {
    reporter.report(healthyJob, span, { service }, related)
    return false
  }
  if (condition === 'service_completed_successfully' && decision.kind !== 'Job') {
    const kind = kindWords[decision.kind]
    const pod = service === target.lead.name ? undefined : sharedPodOf(service, target)
    const joins = pod?.keys.map(({ span, key }) => ({ span, message: `\`${key}\` puts it into the Pod here` })) ?? []
    const keys = pod?.keys.map(({ key, value }) => `${key}: ${value}`)
    const policy = target.members.find(({ name }) => name === service)?.restart.policy
    const because = policy && !pod ? [{ span: policy.span, message: 'the restart policy is here' }] : (related ?? [])
    reporter.report(notAJob, span, { service, kind, ...(pod && keys && { pod: { ...pod, keys } }) }, [
      ...joins,
      ...because,
    ])
    return false
  }
  return true
}

/**
 * Returns facts about a member other than the lead, for the hint on how to move it out of the Pod: the lead, the keys
 * with which the member joins the Pod, and `isRestarted`, which is true if the member is restarted whenever it ends.
 */
function sharedPodOf(service: string, { lead, members }: Group) {
  const member = members.find(({ name }) => name === service)
  const { policy, maxAttempts } = member?.restart ?? {}
  const isRestarted = policy ? policy.value === 'always' : maxAttempts !== undefined
  return { lead: lead.name, keys: member ? joiningKeys(member) : [], isRestarted }
}

const isTcp = ({ protocol }: { readonly protocol: string }) => protocol === 'TCP'

function toWait(context: PlanContext, facts: GroupFacts, dependency: Dependency, lead: string): WaitPlan | undefined {
  switch (dependency.condition) {
    case 'service_started':
      // Kubernetes restarts a container that starts too early.
      return undefined
    case 'service_completed_successfully':
      return { kind: 'job', service: lead, image: kubectlImage(context), toolsImage: shellImage(context) }
    case 'service_healthy': {
      const object = facts.readyServiceOf(dependency.service) ?? facts.serviceOf(dependency.service)
      const service = context.names.of(dependency.service)
      const host = object?.name ?? service
      const image = shellImage(context)
      // The name of a headless Service resolves only while one of its Pods is ready.
      if (!object || object.headless) return { kind: 'name', service, host, image }
      const own = facts.waitPortsOf(dependency.service)
      // A group member without ports is ready when its Pod is ready, so any other port of the Pod can be checked.
      const others = new Map(object.ports.filter(isTcp).map(({ targetPort, port }) => [targetPort, port]))
      const ports = own.length > 0 ? own : [...others.values()]
      if (ports.length > 0) return { kind: 'port', service, host, ports, image }
      context.reporter.report(noTcpPort, dependency.span, { service: dependency.service })
      return undefined
    }
  }
}

/** Returns the awaited members in the order of their own waits. Cycles have been reported before. */
function orderWithin(group: Group, awaited: ReadonlySet<string>): readonly string[] {
  const members = new Map(group.members.map(member => [member.name, member]))
  const ordered: string[] = []
  const entered = new Set<string>()
  const visit = (service: Service) => {
    if (entered.has(service.name)) return
    entered.add(service.name)
    for (const { service: name, condition } of service.dependsOn) {
      const other = members.get(name)
      if (other && condition === 'service_healthy') visit(other)
    }
    if (awaited.has(service.name)) ordered.push(service.name)
  }
  for (const member of group.members) visit(member)
  return ordered
}

/**
 * Reports cycles that exist only because the members of a group start together. The loader reports cycles between
 * single services.
 */
function reportCycles({ project, reporter }: PlanContext, groups: Groups): void {
  // If every group has one member, the loader has already found all cycles.
  if (groups.all.length === project.services.size) return
  const own = [...project.services.values()].flatMap(service =>
    service.dependsOn
      .filter(({ service: target }) => project.services.has(target))
      .map((dependency): Edge => ({ from: service.name, to: dependency.service, span: dependency.span })),
  )
  if (findCycles(own).length > 0) return
  const leadOf = (service: string) => groups.of(service)?.lead.name ?? service
  const grouped = own
    .map(edge => ({ ...edge, from: leadOf(edge.from), to: leadOf(edge.to) }))
    .filter(({ from, to }) => from !== to)
  for (const edges of findCycles(grouped)) {
    const [first, ...others] = edges
    if (!first) continue
    const path = [...edges.map(({ from }) => from), first.from]
    const related = others.map(({ from, to, span }) => ({ span, message: `\`${from}\` waits for \`${to}\`` }))
    reporter.report(cycle, first.span, { path }, related)
  }
}
