import { unlessAborted } from './abort.ts'

/** Lets a number of callers in at a time; the others wait in the order in which they came. */
export class Slots {
  readonly #waiting: (() => void)[] = []
  #free: number

  constructor(count: number) {
    this.#free = count
  }

  /** Resolves with what gives the slot back, to be called once; rejects with the signal's reason when it is aborted first. */
  async enter(signal: AbortSignal | undefined): Promise<() => void> {
    signal?.throwIfAborted()
    if (this.#free > 0) this.#free--
    else {
      let enter = () => {}
      const turn = new Promise<void>(resolve => {
        enter = resolve
      })
      this.#waiting.push(enter)
      try {
        await unlessAborted(turn, signal)
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
