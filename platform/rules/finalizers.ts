/** Finalizers of garbage collection, which Kubernetes removes from objects of every kind. */
export const COLLECTED = ['foregroundDeletion', 'orphan'] as const
/** Finalizer that Kubernetes removes from claims once no Pod uses them. */
export const CLAIM_FINALIZER = 'kubernetes.io/pvc-protection'

/** Finalizers that Kubernetes itself sets on objects and removes, by API version and kind of the object. */
const OF_KIND: Readonly<Record<string, readonly string[]>> = {
  'v1 PersistentVolumeClaim': [CLAIM_FINALIZER],
  'v1 Pod': ['batch.kubernetes.io/job-tracking'],
  'v1 Service': ['service.kubernetes.io/load-balancer-cleanup'],
}

/**
 * True if Kubernetes removes a finalizer from objects of a kind. An object with any other finalizer waits until another
 * program removes the finalizer.
 */
export const isKubernetesOwn = (apiVersion: string, kind: string, finalizer: string): boolean =>
  [...COLLECTED, ...(OF_KIND[`${apiVersion} ${kind}`] ?? [])].includes(finalizer)
