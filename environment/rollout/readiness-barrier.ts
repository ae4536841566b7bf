/**
 * State of one of the workloads that have to be ready at the same time: `waiting` until the workload is ready, `stable`
 * when it has been ready for long enough, and `ready` in between.
 */
export type ReadinessState = 'waiting' | 'ready' | 'stable'

/** Detects when all workloads of a deploy are ready at the same time, and then aborts `signal`. */
export class ReadinessBarrier {
  readonly #over = new AbortController()
  readonly #standing: Map<string, ReadinessState>
  readonly #count = { waiting: 0, ready: 0, stable: 0 }
  readonly #onWatching: (services: readonly string[]) => void
  #isTold = false

  /**
   * `onWatching` is called once, when all workloads are ready but some have to stay ready for a while. It receives the
   * names of the services that have to stay ready.
   */
  constructor(services: Iterable<string>, onWatching: (services: readonly string[]) => void) {
    this.#standing = new Map([...services].map(service => [service, 'waiting']))
    this.#count.waiting = this.#standing.size
    this.#onWatching = onWatching
  }

  get signal(): AbortSignal {
    return this.#over.signal
  }

  /** Records the current state of a workload. */
  set(service: string, standing: ReadinessState): void {
    this.#count[this.#standing.get(service)!]--
    this.#count[standing]++
    this.#standing.set(service, standing)
    if (this.#count.waiting > 0) return
    if (this.#count.ready === 0) this.#over.abort(new Error('all are ready'))
    else if (!this.#isTold) this.#tell()
  }

  #tell(): void {
    this.#isTold = true
    this.#onWatching([...this.#standing].filter(([, one]) => one === 'ready').map(([service]) => service))
  }
}
