import type { Cluster, KubeObject, ObjectQuery } from '../../adapters/kubernetes/cluster.ts'

/** Objects that are in memory at once. */
const PAGE = 10

/**
 * What members have made in a namespace, a few at a time: each object may have 1.5 MiB, and there may be hundreds, so
 * that all of them would be more than the server has.
 */
export async function* membersObjects(
  cluster: Cluster,
  query: ObjectQuery & { readonly namespace: string },
  signal?: AbortSignal,
): AsyncGenerator<KubeObject, void> {
  for await (const page of cluster.pages(query, { signal, size: PAGE })) yield* page
}
