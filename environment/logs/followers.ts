import type { CallOptions } from '../../adapters/kubernetes/cluster.ts'

/** Waits until nothing new can begin any more; rejects with the signal's reason. */
type UntilOver = (options: CallOptions) => Promise<void>

/**
 * The tasks that run while logs are followed. The first failure stops all; so does the end of the
 * last one, when nothing new can begin.
 */
export class Followers {
  readonly #stop: AbortController
  readonly #untilOver: () => UntilOver | undefined
  readonly #running = new Set<Promise<void>>()
  #waiting: AbortController | undefined
  #failure: unknown
  #areDone = false

  /** `untilOver` is asked when none runs; it gives undefined when something may always begin. */
  constructor(stop: AbortController, untilOver: () => UntilOver | undefined) {
    this.#stop = stop
    this.#untilOver = untilOver
  }

  /** Error that stopped all followers, if one did. */
  get failure(): unknown {
    return this.#failure
  }

  get areDone(): boolean {
    return this.#areDone
  }

  start(task: () => Promise<void>): void {
    this.#waiting?.abort()
    const run: Promise<void> = task()
      .catch(error => this.#fail(error))
      .then(() => {
        this.#running.delete(run)
        if (this.#running.size === 0) this.#end()
      })
    this.#running.add(run)
  }

  #fail(error: unknown): void {
    this.#failure ??= error
    this.#stop.abort(error)
  }

  #end(): void {
    const untilOver = this.#untilOver()
    if (!untilOver || this.#stop.signal.aborted) return
    const waiting = new AbortController()
    this.#waiting = waiting
    untilOver({ signal: AbortSignal.any([waiting.signal, this.#stop.signal]) }).then(
      () => {
        if (waiting.signal.aborted) return
        this.#areDone = true
        this.#stop.abort()
      },
      // A user who may not see Jobs follows until Ctrl-C.
      () => {},
    )
  }
}
