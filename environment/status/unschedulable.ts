import type { CallOptions, Cluster, KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { unlessForbidden } from '../forbidden.ts'
import { toWarning, type Warning, type Warnings } from './events.ts'
import type { SeenPod } from './pod-fields.ts'

/** Reason why a Pod has no node, and whether it may get one. */
export interface NoNode {
  /** Message of the scheduler. */
  readonly detail: string
  readonly isPassing: boolean
  /** Reason why it may get one, as reported by an autoscaler. */
  readonly because?: string
}

/** Milliseconds after which a Pod without a node is worth a word; an autoscaler that says no ends the wait then. */
const SCHEDULING_GRACE = 15_000
/**
 * Milliseconds without a word of an autoscaler that end the wait: the one of Kubernetes promises one within 30 s
 * (https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/FAQ.md#what-are-the-service-level-objectives-for-cluster-autoscaler).
 */
export const CAPACITY_GRACE = 30_000

/** The reasons of the events with which an autoscaler says that a node comes: that of Kubernetes, and Karpenter. */
const COMING = new Set(['TriggeredScaleUp', 'Nominated'])
const REFUSED = 'NotTriggerScaleUp'

/** True for events about capacity, which are no warnings. */
export const isAboutCapacity = (reason: string): boolean => COMING.has(reason) || reason === REFUSED

/**
 * Events of Pods that are no warnings, without those that every Pod has: among the rest are those of autoscalers. A
 * selector of fields cannot name several reasons but by leaving out others.
 */
export const CAPACITY_EVENTS = [
  'involvedObject.kind=Pod',
  'type=Normal',
  ...['Scheduled', 'Pulling', 'Pulled', 'Created', 'Started', 'Killing'].map(reason => `reason!=${reason}`),
].join(',')

/**
 * Adds to the warnings of a namespace what autoscalers say of its Pods. Asks only if one of the Pods has no
 * node.
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

/** True if the scheduler has found no node for a Pod. */
export const isUnschedulable = ({ status }: SeenPod): boolean => noNodeCondition(status) !== undefined

/**
 * Judges a Pod without a node; undefined while that says nothing yet. `now` is in milliseconds
 * since 1970.
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
  // A volume that is being provisioned; a claim that cannot be bound is a problem of its own.
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

function noNodeCondition(status: SeenPod['status']) {
  const scheduled = status?.conditions?.find(({ type }) => type === 'PodScheduled')
  return scheduled?.status === 'False' && scheduled.reason === 'Unschedulable' ? scheduled : undefined
}
