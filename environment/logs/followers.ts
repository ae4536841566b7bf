import type { CallOptions } from '../../adapters/kubernetes/cluster.ts'

/** Resolves when no new task can start any more; rejects with the signal's abort reason. */
type UntilOver = (options: CallOptions) => Promise<void>

/**
 * Tasks that run while logs are followed. The first failure stops all tasks. When the last task has ended and no new
 * task can start, following stops, too.
 */
export class Followers {
  readonly #stop: AbortController
  readonly #untilOver: () => UntilOver | undefined
  readonly #running = new Set<Promise<void>>()
  #waiting: AbortController | undefined
  #failure: unknown
  #areDone = false

  /**
   * `untilOver` is called when no task is running. It returns a function that waits until no new task can start;
   * undefined if new tasks may start at any time.
   */
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
      // A user without permission to watch Jobs follows until Ctrl-C.
      () => {},
    )
  }
}
