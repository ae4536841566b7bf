import { Slots } from '../../../adapters/http/slots.ts'
import type { Cluster, KubeObject, ObjectQuery } from '../../../adapters/kubernetes/cluster.ts'

/** Number of objects on a page; an object can have up to 1.5 MiB. */
const PAGE = 4

/**
 * Page size, and slots that limit the pages in memory for all requests and tasks of the server. A slot is held while
 * its page is in memory.
 */
export const PAGES_OF_MEMBERS = { size: PAGE, slots: new Slots(3) }

/**
 * Yields the objects that members created in a namespace, a few at a time. An object can have 1.5 MiB, and there can be
 * hundreds of objects, which together would not fit into the server's memory. Do not start another list while reading
 * this one: it could wait forever for the slot that this list holds.
 */
export async function* listMemberObjects(
  cluster: Cluster,
  query: ObjectQuery & { readonly namespace: string },
  signal?: AbortSignal,
): AsyncGenerator<KubeObject, void> {
  for await (const page of cluster.pages(query, { signal, ...PAGES_OF_MEMBERS })) yield* page
}
