/** Finalizers that Kubernetes removes from every object, whatever its kind: those of garbage collection. */
export const COLLECTED = ['foregroundDeletion', 'orphan'] as const
/** The finalizer that Kubernetes removes from claims that no Pod uses. */
export const CLAIM_FINALIZER = 'kubernetes.io/pvc-protection'

/** Finalizers that Kubernetes itself sets on objects of a kind, and removes. */
const OF_KIND: Readonly<Record<string, readonly string[]>> = {
  'v1 PersistentVolumeClaim': [CLAIM_FINALIZER],
  'v1 Pod': ['batch.kubernetes.io/job-tracking'],
  'v1 Service': ['service.kubernetes.io/load-balancer-cleanup'],
}

/**
 * Returns whether Kubernetes removes a finalizer from objects of a kind; any other one waits for some other program.
 */
export const isKubernetesOwn = (apiVersion: string, kind: string, finalizer: string): boolean =>
  [...COLLECTED, ...(OF_KIND[`${apiVersion} ${kind}`] ?? [])].includes(finalizer)
