import type { CallOptions, Cluster, KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { unlessForbidden } from '../forbidden.ts'
import { toWarning, type Warning, type Warnings } from './events.ts'
import type { SeenPod } from './pod-fields.ts'

/** Reason why a Pod has no node, and whether a node may become available. */
export interface NoNode {
  /** Message of the scheduler. */
  readonly detail: string
  readonly isPassing: boolean
  /** Reason why a node may become available, or why an autoscaler has refused one; absent if no reason is known. */
  readonly because?: string
}

/**
 * Milliseconds after which a Pod without a node is reported. From that time on, an autoscaler's refusal ends the wait.
 */
const SCHEDULING_GRACE = 15_000
/**
 * Milliseconds without an autoscaler event after which the wait ends: the Kubernetes autoscaler promises a decision
 * within 30 s
 * (https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/FAQ.md#what-are-the-service-level-
 * objectives-for-cluster-autoscaler).
 */
export const CAPACITY_GRACE = 30_000

/** Event reasons with which the Kubernetes autoscaler and Karpenter report that a node is coming. */
const COMING = new Set(['TriggeredScaleUp', 'Nominated'])
const REFUSED = 'NotTriggerScaleUp'

/** Returns true for events about capacity, which are not Warnings. */
export const isAboutCapacity = (reason: string): boolean => COMING.has(reason) || reason === REFUSED

/**
 * Field selector for Normal events of Pods, except the kinds of events that every Pod has. The remaining events include
 * the events of autoscalers. A field selector cannot list several reasons to include, only reasons to exclude.
 */
export const CAPACITY_EVENTS = [
  'involvedObject.kind=Pod',
  'type=Normal',
  ...['Scheduled', 'Pulling', 'Pulled', 'Created', 'Started', 'Killing'].map(reason => `reason!=${reason}`),
].join(',')

/**
 * Adds the autoscaler events about Pods to the warnings of a namespace. Sends the request only if one of the Pods has
 * no node.
 */
export async function addCapacityEvents(
  cluster: Cluster,
  namespace: string,
  { pods, warnings }: { readonly pods: readonly KubeObject[]; readonly warnings: Warnings },
  options: CallOptions,
): Promise<void> {
  if (!pods.some(pod => isUnschedulable(pod as SeenPod))) return // the server has checked its shape
  const asked = cluster.list({ apiVersion: 'v1', kind: 'Event', namespace, fields: CAPACITY_EVENTS }, options)
  for (const event of await unlessForbidden(asked, []))
    if (isAboutCapacity(toWarning(event).reason)) warnings.set(event)
}

/** Returns true if the scheduler has found no node for a Pod. */
export const isUnschedulable = ({ status }: SeenPod): boolean => noNodeCondition(status) !== undefined

/**
 * Returns the reason why a Pod has no node; undefined for a Pod that has a node, and while it is too early to tell.
 * `now` is in milliseconds since 1970.
 */
export function noNodeOf(
  { metadata, status }: SeenPod & { readonly metadata: { readonly creationTimestamp?: string } },
  events: readonly Warning[],
  now: number,
): NoNode | undefined {
  const condition = noNodeCondition(status)
  if (!condition) return undefined
  const detail = condition.message ?? ''
  if (status?.nominatedNodeName)
    return { detail, isPassing: true, because: `Pods of lower priority make room on ${status.nominatedNodeName}` }
  // A volume is still being provisioned; a claim that cannot be bound is a separate problem.
  if (/unbound immediate PersistentVolumeClaims/.test(detail)) return { detail, isPassing: true }
  const [word, time] = [events.findLast(({ reason }) => isAboutCapacity(reason)), condition.lastTransitionTime]
  if (word && COMING.has(word.reason)) return { detail, isPassing: true, because: word.message }
  const began = Date.parse(time ?? metadata.creationTimestamp ?? '') || 0
  if (now - began < SCHEDULING_GRACE) return undefined
  return {
    detail,
    isPassing: word === undefined && now - began < CAPACITY_GRACE,
    ...(word && { because: word.message }),
  }
}

/**
 * Returns the message of the scheduler about a Pod without a node; undefined if the Pod has a node, or if the scheduler
 * has not tried to find one yet.
 */
export const noNodeMessage = ({ status }: SeenPod): string | undefined => {
  const condition = noNodeCondition(status)
  return condition && (condition.message ?? '')
}

function noNodeCondition(status: SeenPod['status']) {
  const scheduled = status?.conditions?.find(({ type }) => type === 'PodScheduled')
  return scheduled?.status === 'False' && scheduled.reason === 'Unschedulable' ? scheduled : undefined
}
