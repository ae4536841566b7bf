import { unlessAborted } from './abort.ts'

/** Lets a number of callers in at a time; the others wait in the order in which they came. */
export class Slots {
  readonly #waiting: (() => void)[] = []
  readonly #onFull: () => void
  #free: number

  /** `onFull` is called each time that a caller has to wait. */
  constructor(count: number, onFull: () => void = () => {}) {
    this.#free = count
    this.#onFull = onFull
  }

  /**
   * Runs a task in a slot, and gives what it gives; rejects with the signal's reason when it is
   * aborted before there is a slot.
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
   * Resolves with what gives the slot back, to be called once; rejects with the signal's reason
   * when it is aborted first.
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
        // Given a slot in the same moment in which it gave up.
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
