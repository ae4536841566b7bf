import { unlessAborted } from './abort.ts'
import { rootOf } from './address.ts'
import { type CallOptions, ClusterError, type Resource } from './cluster.ts'
import type { Client } from './request.ts'

interface ResourceList {
  readonly resources: readonly { readonly name: string; readonly kind: string; readonly namespaced: boolean }[]
}

/** What kinds a cluster has: one request for each group and version, kept. */
export class Discovery {
  readonly #client: Client
  readonly #known = new Map<string, Promise<ReadonlyMap<string, Resource>>>()

  constructor(client: Client) {
    this.#client = client
  }

  /**
   * Undefined for a kind that the cluster does not have. Such a kind is asked for anew each time: a deploy may bring its definition along.
   */
  async resource(apiVersion: string, kind: string, options: CallOptions = {}): Promise<Resource | undefined> {
    const kept = this.#known.get(apiVersion)
    const resource = kept && (await unlessAborted(kept, options.signal)).get(kind)
    if (resource !== undefined) return resource
    let fetched = this.#known.get(apiVersion)
    if (fetched === undefined || fetched === kept) {
      fetched = this.#fetch(apiVersion)
      this.#known.set(apiVersion, fetched)
    }
    return (await unlessAborted(fetched, options.signal)).get(kind)
  }

  /** Without a signal: the answer is for all who ask. */
  async #fetch(apiVersion: string): Promise<ReadonlyMap<string, Resource>> {
    try {
      const { resources } = await this.#client.json<ResourceList>({ method: 'GET', path: rootOf(apiVersion) })
      // `deployments/scale` and the like are not kinds of their own.
      const kinds = resources.filter(({ name }) => !name.includes('/'))
      return new Map(kinds.map(({ kind, name, namespaced }) => [kind, { name, namespaced }]))
    } catch (error) {
      if (error instanceof ClusterError && error.failure === 'not-found') return new Map()
      this.#known.delete(apiVersion)
      throw error
    }
  }
}
