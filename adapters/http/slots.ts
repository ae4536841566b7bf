import { unlessAborted } from './abort.ts'

/** Limits the number of concurrent callers; the others wait in order of arrival. */
export class Slots {
  readonly #waiting: (() => void)[] = []
  readonly #onFull: () => void
  #free: number

  /** Creates `count` slots; `onFull` is called each time a caller has to wait. */
  constructor(count: number, onFull: () => void = () => {}) {
    this.#free = count
    this.#onFull = onFull
  }

  /**
   * Runs a task in a slot, and returns its result; rejects with the signal's abort reason if the signal is aborted
   * before a slot is free.
   */
  async run<T>(signal: AbortSignal | undefined, task: () => Promise<T>): Promise<T> {
    const leave = await this.enter(signal)
    try {
      return await task()
    } finally {
      leave()
    }
  }

  /**
   * Waits for a free slot, and returns a function that releases the slot, to be called once. Rejects with the signal's
   * abort reason if the signal is aborted before a slot is free.
   */
  async enter(signal: AbortSignal | undefined): Promise<() => void> {
    signal?.throwIfAborted()
    if (this.#free > 0) this.#free--
    else {
      this.#onFull()
      let enter = () => {}
      const slot = new Promise<void>(resolve => {
        enter = resolve
      })
      this.#waiting.push(enter)
      try {
        await unlessAborted(slot, signal)
      } catch (error) {
        const index = this.#waiting.indexOf(enter)
        // The slot was assigned at the moment the caller gave up.
        if (index === -1) this.#leave()
        else this.#waiting.splice(index, 1)
        throw error
      }
    }
    return () => this.#leave()
  }

  #leave(): void {
    const next = this.#waiting.shift()
    if (next) next()
    else this.#free++
  }
}
