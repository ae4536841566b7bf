import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'

/**
 * Annotation with the revision number of a Deployment and its ReplicaSets. The ReplicaSet with the same number as the
 * Deployment is the newest, even if it is an old one that is used again.
 */
export const REVISION = 'deployment.kubernetes.io/revision'

/** Returns the ReplicaSet of a Deployment's newest revision; undefined if it is not known. */
export function newestSet({ metadata: { annotations, uid: owner } }: KubeObject, sets: readonly KubeObject[]) {
  const revision = annotations?.[REVISION]
  if (revision === undefined) return undefined
  return sets.find(
    ({ metadata }) =>
      metadata.annotations?.[REVISION] === revision && metadata.ownerReferences?.some(({ uid }) => uid === owner),
  )
}

/**
 * Returns true if the failure to create Pods that a Deployment reports comes from an older ReplicaSet. A Deployment
 * reports the failures of all its ReplicaSets that have Pods to create, and older revisions do not matter to the
 * deploy.
 */
export function isOlderFailure(workload: KubeObject, sets: readonly KubeObject[]): boolean {
  const newest = newestSet(workload, sets)
  if (!newest) return false
  const { conditions = [] } = (newest['status'] ?? {}) as {
    readonly conditions?: readonly { readonly type: string; readonly status: string }[]
  } // a ReplicaSet's
  return !conditions.some(({ type, status }) => type === 'ReplicaFailure' && status === 'True')
}
