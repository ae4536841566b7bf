import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import type { DesiredObject } from './desired-state.ts'
import { isOurs } from './field-owners.ts'

const REPLICAS = ['spec', 'replicas']

/** Returns the workloads, as `KIND/NAME`, whose number of Pods an autoscaler among the objects sets. */
export const autoscaledBy = (objects: readonly KubeObject[]): ReadonlySet<string> =>
  new Set(
    objects.flatMap(object => {
      if (object.kind !== 'HorizontalPodAutoscaler') return []
      const { scaleTargetRef } = object['spec'] as { readonly scaleTargetRef: { kind: string; name: string } } // it has one
      return [`${scaleTargetRef.kind}/${scaleTargetRef.name}`]
    }),
  )

/**
 * Returns the object to apply to an autoscaled workload. The server sets a number of Pods that an apply no longer
 * contains to 1, so the present number is applied as long as devctl owns it: until the autoscaler changes it.
 */
export function withOwnReplicas(
  wanted: DesiredObject,
  live: KubeObject | undefined,
  autoscaled: ReadonlySet<string>,
): DesiredObject {
  const { object } = wanted
  if (!live || !autoscaled.has(`${object.kind}/${object.metadata.name}`)) return wanted
  const { replicas } = live['spec'] as { readonly replicas?: number } // a workload has a specification
  // Kubernetes suspends the autoscaler of a workload with 0 Pods.
  if (!replicas || !isOurs(object, live, REPLICAS)) return wanted
  return { ...wanted, object: { ...object, spec: { ...(object['spec'] as object), replicas } } }
}
