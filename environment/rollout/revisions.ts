import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { newestSet, REVISION } from './replica-sets.ts'
import { isSeen, keepsOlderPods } from './status.ts'

const HASHES = ['pod-template-hash', 'controller-revision-hash']

/**
 * Returns the Pods of a workload's newest revision, because older Pods say nothing about the deploy. Returns all
 * Pods if the controller keeps older ones, and an empty list until the controller has seen the newest revision and
 * created Pods. `sets` are the known ReplicaSets, `pods` the Pods of the workload.
 */
export function newestPods(
  workload: KubeObject,
  sets: readonly KubeObject[],
  pods: readonly KubeObject[],
): readonly KubeObject[] {
  if (!isSeen(workload)) return []
  if (keepsOlderPods(workload)) return pods
  const { updateRevision, updatedNumberScheduled } = (workload['status'] ?? {}) as {
    readonly updateRevision?: string
    readonly updatedNumberScheduled?: number
  } // a workload's status
  switch (workload.kind) {
    case 'Deployment': {
      if (workload.metadata.annotations?.[REVISION] === undefined) break
      const set = newestSet(workload, sets)
      return set ? pods.filter(pod => hashOf(pod) === hashOf(set)) : []
    }
    case 'StatefulSet':
      if (updateRevision === undefined) break
      return pods.filter(pod => hashOf(pod) === updateRevision)
    case 'DaemonSet':
      if (!updatedNumberScheduled) return []
  }
  return youngest(pods)
}

/**
 * Returns the Pods of a StatefulSet that the controller has to replace with a newer revision. The controller waits
 * until each of these Pods is ready before it continues, so a Pod that never becomes ready blocks it forever
 * (https://kubernetes.io/docs/concepts/workloads/controllers/statefulset/#forced-rollback). Returns an empty list if
 * the controller keeps older Pods.
 */
export function replacedPods(workload: KubeObject, pods: readonly KubeObject[]): readonly KubeObject[] {
  if (workload.kind !== 'StatefulSet' || !isSeen(workload)) return []
  const { updateRevision } = (workload['status'] ?? {}) as { readonly updateRevision?: string } // a StatefulSet's status
  if (keepsOlderPods(workload) || updateRevision === undefined) return []
  return pods.filter(pod => hashOf(pod) !== updateRevision)
}

/** Returns the Pods of the same revision as the Pod that was created last. */
function youngest(pods: readonly KubeObject[]): readonly KubeObject[] {
  const last = pods.reduce<KubeObject | undefined>(
    (best, pod) => ((pod.metadata.creationTimestamp ?? '') >= (best?.metadata.creationTimestamp ?? '') ? pod : best),
    undefined,
  )
  return last ? pods.filter(pod => hashOf(pod) === hashOf(last)) : []
}

function hashOf({ metadata }: KubeObject): string | undefined {
  return HASHES.map(label => metadata.labels?.[label]).find(hash => hash !== undefined)
}
