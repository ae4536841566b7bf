import { Slots } from '../../../adapters/http/slots.ts'
import type { Cluster, KubeObject, ObjectQuery } from '../../../adapters/kubernetes/cluster.ts'

/** Objects of a page: one can have 1.5 MiB. */
const PAGE = 4

/** Pages of them, for all requests and tasks of the server together: a slot is held as long as a page is in memory. */
export const PAGES_OF_MEMBERS = { size: PAGE, slots: new Slots(3) }

/**
 * The objects that members created in a namespace, a few at a time: an object can have 1.5 MiB, and there can be
 * hundreds, which together would not fit into the server's memory. Do not begin another list while one of these is
 * read: it would wait for the page that the first one holds.
 */
export async function* listMemberObjects(
  cluster: Cluster,
  query: ObjectQuery & { readonly namespace: string },
  signal?: AbortSignal,
): AsyncGenerator<KubeObject, void> {
  for await (const page of cluster.pages(query, { signal, ...PAGES_OF_MEMBERS })) yield* page
}
