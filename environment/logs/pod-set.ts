import type { Change, Cluster, KubeObject, ObjectQuery, PageOptions } from '../../adapters/kubernetes/cluster.ts'
import { type LogSource, slimPod, sourcesOf } from './source.ts'
import { WatchedPod } from './watched-pod.ts'

/**
 * Characters to count against the limits for each container whose log is read: the buffers of a connection, and the
 * times of lines.
 */
const OF_CONTAINER = 32 * 1024

/** Limits for a program that reads the logs of other users' Pods. */
export interface PodLimits extends Pick<PageOptions, 'size' | 'slots'> {
  /** Takes a number of characters from a budget. Returns false if the budget has fewer characters left. */
  take(size: number): boolean
  give(size: number): void
}

/** Query for Pods, and the containers whose logs are read. */
interface PodQuery {
  readonly cluster: Cluster
  readonly query: ObjectQuery
  readonly limits: PodLimits | undefined
  isWanted(source: LogSource): boolean
  /** Called once, when the Pods exceed the limits. */
  onCut(): void
}

interface Kept {
  readonly pod: WatchedPod
  readonly size: number
}

/** Pods that match a query, kept up to date. Stores only the fields that are needed to read logs. */
export class PodSet {
  readonly #asked: PodQuery
  /** Pods by UID, because a Pod of a StatefulSet is recreated under the same name. */
  readonly #pods = new Map<string, Kept>()
  #isCut = false

  constructor(asked: PodQuery) {
    this.#asked = asked
  }

  /** Lists the existing Pods. Throws the errors of the cluster. */
  async list(signal: AbortSignal): Promise<readonly WatchedPod[]> {
    const { cluster, query } = this.#asked
    for await (const page of cluster.pages(query, this.#options(signal))) for (const pod of page) this.#add(pod)
    return [...this.#pods.values()].map(({ pod }) => pod)
  }

  get objects(): readonly KubeObject[] {
    return [...this.#pods.values()].map(({ pod }) => pod.object)
  }

  /**
   * Keeps all Pods up to date and yields new ones, until the cluster reports an error or the signal is aborted; throws
   * the error or the abort reason.
   */
  async *watch(signal: AbortSignal): AsyncGenerator<WatchedPod> {
    const { cluster, query } = this.#asked
    let listed = new Set<string>()
    for await (const change of cluster.watch(query, this.#options(signal))) {
      if (change.type === 'Restarted') listed = new Set()
      // A watch that starts over does not report deletions that happened in between.
      else if (change.type === 'Listed') this.#keepOnly(listed)
      else {
        listed.add(keyOf(change.object))
        const added = this.#take(change)
        if (added) yield added
      }
    }
  }

  /** Forgets all Pods. The characters that were counted for the Pods are available again in the limits. */
  close(): void {
    this.#keepOnly(new Set())
  }

  #options(signal: AbortSignal): PageOptions {
    const { size, slots } = this.#asked.limits ?? {}
    return { signal, ...(size !== undefined && { size }), ...(slots && { slots }) }
  }

  #take({ object, type }: Extract<Change, { object: KubeObject }>): WatchedPod | undefined {
    const key = keyOf(object)
    if (type === 'Deleted') {
      this.#forget(key)
      return undefined
    }
    const known = this.#pods.get(key)
    if (!known) return this.#add(object)
    known.pod.update(slimPod(object))
    return undefined
  }

  #add(object: KubeObject): WatchedPod | undefined {
    const slim = slimPod(object)
    const { limits, isWanted, onCut } = this.#asked
    const size = limits ? JSON.stringify(slim).length + OF_CONTAINER * sourcesOf(slim).filter(isWanted).length : 0
    if (limits && !limits.take(size)) {
      if (!this.#isCut) onCut()
      this.#isCut = true
      return undefined
    }
    const pod = new WatchedPod(slim)
    this.#pods.set(keyOf(object), { pod, size })
    return pod
  }

  #keepOnly(present: ReadonlySet<string>): void {
    for (const key of [...this.#pods.keys()]) if (!present.has(key)) this.#forget(key)
  }

  #forget(key: string): void {
    const known = this.#pods.get(key)
    if (!known) return
    this.#pods.delete(key)
    this.#asked.limits?.give(known.size)
    known.pod.remove()
  }
}

const keyOf = ({ metadata }: KubeObject): string => metadata.uid ?? metadata.name
