import { unlessAborted } from '../http/abort.ts'
import { rootOf } from './address.ts'
import { isGroupList, isResourceList, type ResourceList } from './answers.ts'
import { builtInKind } from './built-in-kinds.ts'
import { type CallOptions, ClusterError, type KnownKind, type KnownKinds, type Resource } from './cluster.ts'
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
    const current = this.#current(apiVersion)
    const fetched = current === undefined || current === kept ? this.#begin(apiVersion) : current
    return (await fetched.wait(signal)).get(kind)
  }

  /**
   * Returns every kind whose objects can be created, listed and deleted, in the server's preferred version. A group
   * whose server is down does not affect the others.
   */
  async kinds({ signal }: CallOptions = {}): Promise<KnownKinds> {
    const { groups } = await this.#client.json({ method: 'GET', path: '/apis', signal }, isGroupList)
    const versions = groups.map(({ preferredVersion }) => preferredVersion.groupVersion)
    const unavailable: string[] = []
    const lists = await Promise.all([
      this.#kindsOf('v1', signal),
      ...versions.map(apiVersion =>
        this.#kindsOf(apiVersion, signal).catch((error: unknown) => {
          if (!isDown(error) || signal?.aborted) throw error
          unavailable.push(apiVersion)
          return []
        }),
      ),
    ])
    return { kinds: lists.flat(), unavailable }
  }

  async #kindsOf(apiVersion: string, signal: AbortSignal | undefined): Promise<readonly KnownKind[]> {
    const resources = await this.#resources(apiVersion, signal)
    return resources
      .filter(({ verbs = [] }) => NEEDED.every(verb => verbs.includes(verb)))
      .map(({ name, kind, namespaced }) => ({ apiVersion, kind, name, namespaced }))
  }

  #current(apiVersion: string): Shared<Kinds> | undefined {
    const known = this.#known.get(apiVersion)
    return known?.isAbandoned ? undefined : known
  }

  #begin(apiVersion: string): Shared<Kinds> {
    const fetched = new Shared(
      abandoned => this.#fetch(apiVersion, abandoned),
      () => {
        if (this.#known.get(apiVersion) === fetched) this.#known.delete(apiVersion)
      },
    )
    this.#known.set(apiVersion, fetched)
    return fetched
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

/** Returns true for the error of an aggregated API server that is down: it answers with an error, or not in time. */
const isDown = (error: unknown): boolean =>
  error instanceof ClusterError && (error.failure === 'unavailable' || error.failure === 'unreachable')

/**
 * Work that several callers wait for. The work is aborted when the last caller gives up, because it would keep the
 * process alive.
 */
class Shared<T> {
  readonly #abandoned = new AbortController()
  readonly #result: Promise<T>
  #waiting = 0

  /** Begins the work, and calls `failed` if it fails; the error is passed to the waiting callers. */
  constructor(work: (signal: AbortSignal) => Promise<T>, failed: () => void) {
    this.#result = work(this.#abandoned.signal)
    this.#result.catch(failed)
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
