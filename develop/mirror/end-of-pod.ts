import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'

interface PodEnd {
  readonly phase?: string
  readonly reason?: string
  readonly message?: string
  readonly conditions?: readonly { readonly type: string; readonly status: string; readonly reason?: string }[]
}

/**
 * Text for each reason for a disruption of a Pod:
 * https://kubernetes.io/docs/concepts/workloads/pods/disruptions/#pod-disruption-conditions
 */
const DISRUPTIONS: Readonly<Record<string, string>> = {
  EvictionByEvictionAPI: 'its Pod was evicted, as `kubectl drain` does',
  DeletionByTaintManager: 'its Pod was evicted: its node has got a taint that it does not tolerate',
  PreemptionByScheduler: 'its Pod was evicted for one with a higher priority',
  DeletionByPodGC: 'its node is gone',
}

/** True if none of the containers of a Pod will run again. */
export const isOver = (pod: KubeObject): boolean => ['Failed', 'Succeeded'].includes(statusOf(pod).phase ?? '')

/**
 * Returns the reason why a Pod is ending or has ended, as a clause; undefined if it continues, or if the cluster
 * reports no reason.
 */
export function endOfPod(pod: KubeObject): string | undefined {
  const { reason, message, conditions = [] } = statusOf(pod)
  if (isOver(pod) && reason === 'Evicted') return evictedFor(message ?? 'no reason is known')
  const disruption = conditions.find(({ type, status }) => type === 'DisruptionTarget' && status === 'True')
  const words = disruption && DISRUPTIONS[disruption.reason ?? '']
  if (words !== undefined) return words
  if (!isOver(pod)) return undefined
  const why = [reason, message].filter(text => text !== undefined && text !== '').join(': ')
  // The kubelet gives no reason if all processes ended successfully; events may contain one.
  if (statusOf(pod).phase === 'Succeeded') return undefined
  return why === '' ? 'its Pod has ended' : `its Pod has ended: ${sentence(why)}`
}

const statusOf = (pod: KubeObject): PodEnd => (pod['status'] ?? {}) as PodEnd // a Pod's status

/** Returns the text about an eviction by the kubelet, with the kubelet's message. */
export const evictedFor = (message: string): string => `its Pod was evicted: ${sentence(message)}`

/** Removes surrounding spaces and the final period. */
const sentence = (text: string): string => text.trim().replace(/\.$/, '')
