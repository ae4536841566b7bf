import { unlessAborted } from '../http/abort.ts'

/**
 * Work that several callers wait for. It is aborted when the last of them gives up, so that it does not keep the
 * process alive.
 */
export class Shared<T> {
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
