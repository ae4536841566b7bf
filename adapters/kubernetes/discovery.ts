import { rootOf } from './address.ts'
import { isGroupList, isResourceList, type ResourceList } from './answers.ts'
import { builtInKind } from './built-in-kinds.ts'
import { type CallOptions, ClusterError, type KnownKind, type Resource } from './cluster.ts'
import type { Client } from './request.ts'
import { Shared } from './shared.ts'

type Kinds = ReadonlyMap<string, Resource>

/** Computed resources, such as the metrics of Pods, cannot be created or deleted. */
const NEEDED = ['create', 'list', 'delete']

/**
 * The kinds of a cluster. Built-in kinds are known; for others there is one request for each group
 * and version, whose response is kept.
 */
export class Discovery {
  readonly #client: Client
  readonly #known = new Map<string, Shared<Kinds>>()

  constructor(client: Client) {
    this.#client = client
  }

  /**
   * Undefined for a kind that the cluster does not have. Such a kind is asked for again each time:
   * a deploy may bring its definition along.
   */
  async resource(apiVersion: string, kind: string, { signal }: CallOptions = {}): Promise<Resource | undefined> {
    signal?.throwIfAborted()
    const builtIn = builtInKind(apiVersion, kind)
    if (builtIn !== undefined) return builtIn
    const kept = this.#current(apiVersion)
    const resource = kept && (await kept.wait(signal)).get(kind)
    if (resource !== undefined) return resource
    let fetched = this.#current(apiVersion)
    if (fetched === undefined || fetched === kept) {
      fetched = new Shared(abandoned => this.#fetch(apiVersion, abandoned))
      this.#known.set(apiVersion, fetched)
    }
    try {
      return (await fetched.wait(signal)).get(kind)
    } catch (error) {
      if (this.#known.get(apiVersion) === fetched && !signal?.aborted) this.#known.delete(apiVersion)
      throw error
    }
  }

  /**
   * Every kind whose objects can be made, listed and deleted, in the version that the server
   * prefers.
   */
  async kinds({ signal }: CallOptions = {}): Promise<readonly KnownKind[]> {
    const { groups } = await this.#client.json({ method: 'GET', path: '/apis', signal }, isGroupList)
    const versions = ['v1', ...groups.map(({ preferredVersion }) => preferredVersion.groupVersion)]
    const lists = await Promise.all(
      versions.map(async apiVersion => {
        const resources = await this.#resources(apiVersion, signal)
        return resources
          .filter(({ verbs = [] }) => NEEDED.every(verb => verbs.includes(verb)))
          .map(({ name, kind, namespaced }) => ({ apiVersion, kind, name, namespaced }))
      }),
    )
    return lists.flat()
  }

  #current(apiVersion: string): Shared<Kinds> | undefined {
    const known = this.#known.get(apiVersion)
    return known?.isAbandoned ? undefined : known
  }

  async #fetch(apiVersion: string, signal: AbortSignal): Promise<Kinds> {
    const resources = await this.#resources(apiVersion, signal)
    return new Map(resources.map(({ kind, name, namespaced }) => [kind, { name, namespaced }]))
  }

  /**
   * The kinds of a group and version; none if the cluster does not have it, or no longer, as its last definition was
   * deleted.
   */
  async #resources(apiVersion: string, signal: AbortSignal | undefined): Promise<ResourceList['resources']> {
    try {
      const { resources } = await this.#client.json({ method: 'GET', path: rootOf(apiVersion), signal }, isResourceList)
      // `deployments/scale` and the like are not kinds of their own.
      return resources.filter(({ name }) => !name.includes('/'))
    } catch (error) {
      if (error instanceof ClusterError && error.failure === 'not-found') return []
      throw error
    }
  }
}
