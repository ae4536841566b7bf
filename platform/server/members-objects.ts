import type { Cluster, KubeObject, ObjectQuery } from '../../adapters/kubernetes/cluster.ts'

/** Objects that are in memory at the same time. */
export const PAGE_OF_MEMBERS = 10

/**
 * The objects that members created in a namespace, a few at a time: an object can have 1.5 MiB, and there can be
 * hundreds, which together would not fit into the server's memory.
 */
export async function* membersObjects(
  cluster: Cluster,
  query: ObjectQuery & { readonly namespace: string },
  signal?: AbortSignal,
): AsyncGenerator<KubeObject, void> {
  for await (const page of cluster.pages(query, { signal, size: PAGE_OF_MEMBERS })) yield* page
}
