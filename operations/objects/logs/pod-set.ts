import type { Change, Cluster, KubeObject, ObjectQuery } from '../../../adapters/kubernetes/cluster.ts'
import { WatchedPod } from './watched-pod.ts'

/** The Pods that a query finds, as they come, change and go. */
export class PodSet {
  readonly #cluster: Cluster
  readonly #query: ObjectQuery
  /** By uid: a Pod of a StatefulSet comes back with the same name. */
  readonly #pods = new Map<string, WatchedPod>()

  constructor(cluster: Cluster, query: ObjectQuery) {
    this.#cluster = cluster
    this.#query = query
  }

  /** Those that are there. Throws what the cluster throws. */
  async list(signal: AbortSignal): Promise<readonly WatchedPod[]> {
    for (const pod of await this.#cluster.list(this.#query, { signal })) this.#pods.set(keyOf(pod), new WatchedPod(pod))
    return [...this.#pods.values()]
  }

  get objects(): readonly KubeObject[] {
    return [...this.#pods.values()].map(({ object }) => object)
  }

  /**
   * Keeps all of them up to date, and gives the new ones, until it throws what the cluster throws,
   * or the signal's reason.
   */
  async *watch(signal: AbortSignal): AsyncGenerator<WatchedPod> {
    let listed = new Set<string>()
    for await (const change of this.#cluster.watch(this.#query, { signal })) {
      if (change.type === 'Restarted') listed = new Set()
      // A watch that starts over does not report deletions from the time in between.
      else if (change.type === 'Listed') this.#keepOnly(listed)
      else {
        listed.add(keyOf(change.object))
        const added = this.#take(change)
        if (added) yield added
      }
    }
  }

  #take({ object, type }: Extract<Change, { object: KubeObject }>): WatchedPod | undefined {
    const key = keyOf(object)
    const known = this.#pods.get(key)
    if (type === 'Deleted') {
      this.#forget(key)
      return undefined
    }
    if (known) {
      known.update(object)
      return undefined
    }
    const added = new WatchedPod(object)
    this.#pods.set(key, added)
    return added
  }

  #keepOnly(present: ReadonlySet<string>): void {
    for (const key of [...this.#pods.keys()]) if (!present.has(key)) this.#forget(key)
  }

  #forget(key: string): void {
    this.#pods.get(key)?.remove()
    this.#pods.delete(key)
  }
}

const keyOf = ({ metadata }: KubeObject): string => metadata.uid ?? metadata.name
