import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'

/**
 * The number that a Deployment gives its ReplicaSets: the one with its own number is the newest,
 * even when it is an old one that is used again.
 */
export const REVISION = 'deployment.kubernetes.io/revision'

/** The ReplicaSet of a Deployment's newest revision; undefined where it is not known. */
export function newestSet({ metadata: { annotations, uid: owner } }: KubeObject, sets: readonly KubeObject[]) {
  const revision = annotations?.[REVISION]
  if (revision === undefined) return undefined
  return sets.find(
    ({ metadata }) =>
      metadata.annotations?.[REVISION] === revision && metadata.ownerReferences?.some(({ uid }) => uid === owner),
  )
}

/**
 * Returns true if the failure to create Pods that a Deployment reports comes from an older ReplicaSet: it reports all
 * ReplicaSets that have Pods to create, and those of an older revision do not matter to the deploy.
 */
export function isOlderFailure(workload: KubeObject, sets: readonly KubeObject[]): boolean {
  const newest = newestSet(workload, sets)
  if (!newest) return false
  const { conditions = [] } = (newest['status'] ?? {}) as {
    readonly conditions?: readonly { readonly type: string; readonly status: string }[]
  } // a ReplicaSet's
  return !conditions.some(({ type, status }) => type === 'ReplicaFailure' && status === 'True')
}
