import type { CallOptions, Cluster, KubeObject } from '../../adapters/kubernetes/cluster.ts'

/** Details of a reconcile request, which sets an annotation to the current time. */
export interface ReconcileRequest {
  /** Annotation that is set to the current time. */
  readonly annotation: string
  readonly manager: string
  /** Milliseconds since 1970. */
  readonly now: number
}

/** Changes one annotation, so that the controllers of the object reconcile at once instead of after some minutes. */
export async function requestReconcile(
  cluster: Cluster,
  { apiVersion, kind, metadata: { name, namespace } }: KubeObject,
  { annotation, manager, now }: ReconcileRequest,
  options: CallOptions,
): Promise<void> {
  const annotations = { [annotation]: new Date(now).toISOString() }
  const note: KubeObject = { apiVersion, kind, metadata: { name, ...(namespace && { namespace }), annotations } }
  await cluster.apply(note, { ...options, manager, force: true })
}
