import { unlessAborted } from '../http/abort.ts'
import { rootOf } from './address.ts'
import { isGroupList, isResourceList, type ResourceList } from './answers.ts'
import { builtInKind } from './built-in-kinds.ts'
import { type CallOptions, ClusterError, type KnownKind, type Resource } from './cluster.ts'
import type { Client } from './request.ts'

type Kinds = ReadonlyMap<string, Resource>

/**
 * Verbs that a kind must support. Excludes computed resources, such as Pod metrics, which cannot be created or deleted.
 */
const NEEDED = ['create', 'list', 'delete']

/**
 * Finds the kinds of a cluster. Built-in kinds need no request. For other kinds, sends one request per group and
 * version and caches the response.
 */
export class Discovery {
  readonly #client: Client
  readonly #known = new Map<string, Shared<Kinds>>()

  constructor(client: Client) {
    this.#client = client
  }

  /**
   * Returns the resource of a kind; undefined if the cluster does not have the kind. A missing kind is requested again
   * each time, because a deploy may create its definition.
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

  /** Returns every kind whose objects can be created, listed and deleted, in the server's preferred version. */
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
   * Returns the kinds of a group and version. Returns an empty list if the cluster lacks the group or the version, for
   * example because the last definition of a kind in it was deleted.
   */
  async #resources(apiVersion: string, signal: AbortSignal | undefined): Promise<ResourceList['resources']> {
    try {
      const { resources } = await this.#client.json({ method: 'GET', path: rootOf(apiVersion), signal }, isResourceList)
      // Subresources such as `deployments/scale` are not separate kinds.
      return resources.filter(({ name }) => !name.includes('/'))
    } catch (error) {
      if (error instanceof ClusterError && error.failure === 'not-found') return []
      throw error
    }
  }
}

/**
 * Work that several callers wait for. The work is aborted when the last caller gives up, because it would keep the
 * process alive.
 */
class Shared<T> {
  readonly #abandoned = new AbortController()
  readonly #result: Promise<T>
  #waiting = 0

  constructor(work: (signal: AbortSignal) => Promise<T>) {
    this.#result = work(this.#abandoned.signal)
    // The error is passed to the waiting callers.
    this.#result.catch(() => {})
  }

  get isAbandoned(): boolean {
    return this.#abandoned.signal.aborted
  }

  /** Waits for the result; rejects with the signal's abort reason as soon as the signal is aborted. */
  async wait(signal: AbortSignal | undefined): Promise<T> {
    this.#waiting++
    try {
      return await unlessAborted(this.#result, signal)
    } finally {
      if (--this.#waiting === 0 && signal?.aborted) this.#abandoned.abort()
    }
  }
}
