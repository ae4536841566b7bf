import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import type { DesiredObject } from './desired-state.ts'
import { isOurs } from './field-owners.ts'

const REPLICAS = ['spec', 'replicas']

/**
 * Returns the workloads, as `KIND/NAME`, whose number of Pods is set by one of the HorizontalPodAutoscalers in
 * `objects`.
 */
export const autoscaledBy = (objects: readonly KubeObject[]): ReadonlySet<string> =>
  new Set(
    objects.flatMap(object => {
      if (object.kind !== 'HorizontalPodAutoscaler') return []
      const { scaleTargetRef } = object['spec'] as { readonly scaleTargetRef: { kind: string; name: string } } // it has one
      return [`${scaleTargetRef.kind}/${scaleTargetRef.name}`]
    }),
  )

/**
 * Returns the object to apply to an autoscaled workload. As long as devctl owns the number of Pods, adds the current
 * number, because the server would reset the number to 1 if the apply omitted it. After the autoscaler has changed the
 * number, devctl no longer owns it.
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
