import { backOff, pause } from '../http/back-off.ts'
import { pathOf } from './address.ts'
import { isPage } from './answers.ts'
import { ClusterError, type KubeObject, type ObjectQuery, type PageOptions, type Resource } from './cluster.ts'
import type { Client } from './request.ts'

const PAGE = 500
/** Media types for a list with only metadata. A server that does not support the first type sends full objects. */
const METADATA = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json'

/** Returns all objects. Starts over if the server no longer has the state that the list started with. */
export async function listAll(
  client: Client,
  query: ObjectQuery,
  resource: Resource,
  signal: AbortSignal | undefined,
): Promise<readonly KubeObject[]> {
  const begin = performance.now()
  for (let failures = 1; ; failures++)
    try {
      return await listOnce(client, query, resource, signal)
    } catch (error) {
      const isExpired = error instanceof ClusterError && error.status === 410
      const wait = backOff(failures, client.limits.pause, 5_000)
      if (!isExpired || performance.now() - begin + wait > client.limits.retry) throw error
      await pause(wait, signal)
    }
}

async function listOnce(client: Client, query: ObjectQuery, resource: Resource, signal: AbortSignal | undefined) {
  const all: KubeObject[] = []
  for await (const { objects } of pagesOf(client, query, resource, { signal })) all.push(...objects)
  return all
}

/**
 * Yields the objects page by page, with the resourceVersion of the list to start a watch from. Throws if the server no
 * longer has the state that the list started with.
 */
export async function* pagesOf(
  client: Client,
  { apiVersion, kind, namespace, labels, fields }: ObjectQuery,
  resource: Resource,
  { signal, size = PAGE, slots, metadataOnly }: PageOptions,
): AsyncGenerator<{ readonly objects: readonly KubeObject[]; readonly version: string }, void> {
  let next: string | undefined
  for (;;) {
    const query = {
      limit: size,
      labelSelector: labels || undefined,
      fieldSelector: fields || undefined,
      continue: next,
    }
    const path = pathOf(apiVersion, resource, namespace, undefined, query)
    const leave = await slots?.enter(signal)
    try {
      const accept = metadataOnly ? METADATA : undefined
      const call = { method: 'GET', path, accept, signal, goesOn: next !== undefined } as const
      const { items, metadata } = await client.json(call, isPage)
      // The server leaves out the fields that all items of a list have in common. (The cast is needed because an index
      // signature hides the other fields from Omit.)
      const objects = (items ?? []).map(item => ({ ...item, apiVersion, kind }) as KubeObject)
      yield { objects, version: metadata.resourceVersion }
      next = metadata.continue
    } finally {
      leave?.()
    }
    if (!next) return
  }
}
