import type { Deploy, Service } from '../../compose/project.ts'
import { diagnostic, type Related } from '../../diagnostics/diagnostic.ts'
import type { PlanContext } from '../context.ts'
import type { PodPlan, RollingUpdate, WorkloadPlan } from '../plan.ts'
import { wholeSeconds } from '../pod/probes.ts'
import type { KindDecision } from './kind.ts'

const notAllowed = diagnostic({
  code: 'update-policy/not-allowed',
  severity: 'error',
  explain: `The label \`dev.platform/update\` sets how the Pods of a service are replaced. The allowed values depend on the workload that the service becomes:

| value | allowed on | effect |
|---|---|---|
| \`rolling\` | Deployments, StatefulSets and DaemonSets | no downtime |
| \`recreate\` | Deployments | the old Pods are deleted before the new ones are created |
| \`on-delete\` | StatefulSets | a new Pod is created when you delete the old one |

A service with volumes is a StatefulSet, a service with a restart policy other than \`always\` a Job.`,
  text: (p: { policy: string; kind: string; allowed: readonly string[] }) => ({
    message: `update policy \`${p.policy}\` is not allowed on a ${p.kind}`,
    hint: p.allowed.length
      ? `use ${p.allowed.map(policy => `\`${policy}\``).join(' or ')}`
      : 'remove the label `dev.platform/update`',
  }),
})

const unknown = diagnostic({
  code: 'update-policy/unknown',
  severity: 'error',
  explain: 'The value of the label `dev.platform/update` is `rolling`, `recreate` or `on-delete`.',
  text: (p: { policy: string }) => ({
    message: `\`${p.policy}\` is not a valid update policy`,
    hint: 'use `rolling`, `recreate` or `on-delete`',
  }),
})

const orderLost = diagnostic({
  code: 'update-policy/order',
  severity: 'warning',
  loss: true,
  explain:
    'A StatefulSet replaces a Pod with a Pod of the same name, so the old one must be deleted before the new one starts. `order: start-first` is left out.',
  text: () => ({
    message: '`order: start-first` is not possible for a StatefulSet, which stops a Pod before it starts the new one',
  }),
})

const hostPortOrder = diagnostic({
  code: 'update-policy/host-port',
  severity: 'warning',
  loss: true,
  explain:
    'The new Pod has no room on the node of the old one while that runs: they use the same port of their node (`mode: host`, or `network_mode: host` with ports), or `max_replicas_per_node: 1` keeps them apart. With `order: start-first` the update would wait forever on a cluster without a free node, so the old Pod is stopped first.',
  text: (p: { by: Blocked }) => ({
    message:
      p.by === 'port'
        ? '`order: start-first` is not possible with a host port, which only one Pod can use'
        : '`order: start-first` is not possible with `max_replicas_per_node: 1`, which keeps the new Pod off the node',
    hint: `remove it, or ${p.by === 'port' ? 'the host port' : '`max_replicas_per_node`'}`,
  }),
})

const parallelStatefulSet = diagnostic({
  code: 'update-policy/stateful-set-parallelism',
  severity: 'info',
  explain:
    'A StatefulSet replaces its Pods one after the other. Kubernetes 1.35 and later can replace several at once; older clusters ignore the number.',
  text: (p: { count: number | string }) => ({
    message: `a StatefulSet replaces ${p.count} Pods at once since Kubernetes 1.35; older clusters replace them one by one`,
  }),
})

const noUpdates = diagnostic({
  code: 'update-policy/job',
  severity: 'warning',
  loss: true,
  explain: 'A Job is not updated: changed content creates a new Job. `update_config` is left out.',
  text: () => ({ message: '`update_config` has no effect on a Job' }),
})

const overruled = diagnostic({
  code: 'update-policy/overruled',
  severity: 'warning',
  loss: true,
  explain:
    'The label `dev.platform/update` sets how Pods are replaced. With `recreate` all Pods stop before new ones start, and with `on-delete` a Pod is replaced when somebody deletes it, so `parallelism` and `order` of `deploy.update_config` have no effect. Remove one of the two.',
  text: (p: { key: string; policy: string }) => ({
    message: `\`${p.key}\` has no effect: the update policy is \`${p.policy}\``,
    hint: 'remove it, or the label `dev.platform/update`',
  }),
})

const policies = ['rolling', 'recreate', 'on-delete'] as const
type Policy = (typeof policies)[number]

const allowedOn: Readonly<Record<WorkloadPlan['kind'], readonly Policy[]>> = {
  Deployment: ['rolling', 'recreate'],
  StatefulSet: ['rolling', 'on-delete'],
  // A DaemonSet always rolls. The specification allows no other value for workloads it does not know.
  DaemonSet: ['rolling'],
  Job: [],
}

export const kindWords: Readonly<Record<WorkloadPlan['kind'], string>> = {
  Deployment: 'deployment',
  StatefulSet: 'stateful set',
  DaemonSet: 'daemon set',
  Job: 'job',
}

export interface UpdatePlan {
  readonly policy?: Policy
  readonly rolling?: RollingUpdate
  readonly minReadySeconds?: number
  readonly progressDeadlineSeconds?: number
}

/**
 * Plans how Pods are replaced, from the label `dev.platform/update`, or `deploy.update_config` if there is no label.
 * Reports a policy that the workload kind does not allow, with the line that determined the kind.
 */
export function planUpdate(context: PlanContext, service: Service, decision: KindDecision, pod: PodPlan): UpdatePlan {
  const policy = readPolicy(context, service, decision)
  const { update } = service.deploy
  if (update && decision.kind === 'Job') {
    context.reporter.report(noUpdates, update.span, undefined)
    return {}
  }
  const delay = update?.delay && update.delay.value.milliseconds > 0 && wholeSeconds(context, 'delay', update.delay)
  const monitor = update?.monitor && wholeSeconds(context, 'monitor', update.monitor)
  const rolling =
    policy === undefined || policy === 'rolling'
      ? (toRolling(context, update, decision.kind, blockedBy(pod)) ??
        // The new Pod would start first by default, and wait forever for what the old Pod holds.
        (decision.kind === 'Deployment' && blockedBy(pod) ? stopFirst(1) : undefined))
      : undefined
  if (policy !== undefined && policy !== 'rolling')
    for (const key of ['parallelism', 'order'] as const) {
      const lost = update?.[key]
      if (lost) context.reporter.report(overruled, lost.span, { key, policy })
    }
  return {
    ...(policy && { policy }),
    ...(rolling ? { rolling } : policy === 'rolling' && { rolling: { type: 'RollingUpdate' } as const }),
    ...(delay && { minReadySeconds: delay }),
    ...progressDeadline(delay || 0, monitor || 0),
  }
}

/**
 * Returns the progress deadline in seconds, which must exceed `delay`, the minimum time until a Pod counts as
 * available. Returns no deadline if Kubernetes' default, ten minutes, is long enough.
 */
function progressDeadline(delay: number, monitor: number): Pick<UpdatePlan, 'progressDeadlineSeconds'> {
  if (delay < 600 && monitor <= 600) return {}
  return { progressDeadlineSeconds: Math.max(monitor, delay + 600) }
}

/** Setting because of which only one Pod of a workload fits on a node: a host port, or the placement. */
type Blocked = 'port' | 'placement'

/**
 * Returns the setting because of which a new Pod does not fit on the node of an old Pod of the workload; undefined if
 * there is no such setting.
 */
const blockedBy = (pod: PodPlan): Blocked | undefined =>
  holdsHostPort(pod) ? 'port' : pod.spreadOut ? 'placement' : undefined

/** True if the Pod uses ports of its node. On the node's network, every container port is a node port. */
const holdsHostPort = ({ hostNetwork, containers, init }: PodPlan): boolean =>
  [...containers, ...init].some(({ ports }) => ports.some(({ hostPort }) => hostNetwork || hostPort !== undefined))

function readPolicy({ reporter }: PlanContext, service: Service, decision: KindDecision): Policy | undefined {
  const label = service.labels.find(({ name }) => name === 'dev.platform/update')
  if (!label) return undefined
  const policy = policies.find(known => known === label.value)
  if (!policy) {
    reporter.report(unknown, label.span, { policy: label.value })
    return undefined
  }
  const allowed = allowedOn[decision.kind]
  if (allowed.includes(policy)) return policy
  const related: readonly Related[] = decision.because ? [decision.because] : []
  reporter.report(notAllowed, label.span, { policy, kind: kindWords[decision.kind], allowed }, related)
  return undefined
}

/**
 * Converts `update_config` for a rolling update. Returns undefined if it sets neither `parallelism` nor `order`, or if
 * Kubernetes' default for a StatefulSet is the same. If only one of the keys is set, the other has Compose's default:
 * updates stop the old Pod first and replace one Pod at a time.
 */
function toRolling(
  { reporter }: PlanContext,
  update: Deploy['update'],
  kind: WorkloadPlan['kind'],
  blocked: Blocked | undefined,
): RollingUpdate | undefined {
  if (!update || (!update.parallelism && !update.order)) return undefined
  const count = update.parallelism?.value ?? 1
  const atOnce = count === 0 ? '100%' : count
  const startsFirst = update.order?.value === 'start-first'
  if (kind === 'StatefulSet') {
    if (startsFirst) reporter.report(orderLost, update.order!.span, undefined)
    if (atOnce === 1) return undefined
    reporter.report(parallelStatefulSet, update.parallelism!.span, { count: count === 0 ? 'all' : count })
    return { type: 'RollingUpdate', maxUnavailable: atOnce }
  }
  if (!startsFirst) return stopFirst(atOnce)
  if (!blocked) return { type: 'RollingUpdate', maxSurge: atOnce, maxUnavailable: 0 }
  reporter.report(hostPortOrder, update.order!.span, { by: blocked })
  return stopFirst(atOnce)
}

const stopFirst = (atOnce: number | string): RollingUpdate => ({
  type: 'RollingUpdate',
  maxSurge: 0,
  maxUnavailable: atOnce,
})
