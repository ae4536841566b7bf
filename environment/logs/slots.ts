/** Lets so many do something at the same time; the others wait for their turn. */
export class Slots {
  #free: number
  readonly #onFull: () => void
  readonly #queue: (() => void)[] = []

  /** `onFull` is called when somebody has to wait. */
  constructor(size: number, onFull: () => void) {
    this.#free = size
    this.#onFull = onFull
  }

  /** Runs the task when it is its turn; rejects with the signal's reason while it waits. */
  async run<T>(signal: AbortSignal, task: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--
    else await this.#turn(signal)
    try {
      return await task()
    } finally {
      const next = this.#queue.shift()
      if (next) next()
      else this.#free++
    }
  }

  #turn(signal: AbortSignal): Promise<void> {
    this.#onFull()
    return new Promise((resolve, reject) => {
      const take = () => {
        signal.removeEventListener('abort', leave)
        resolve()
      }
      const leave = () => {
        this.#queue.splice(this.#queue.indexOf(take), 1)
        reject(signal.reason)
      }
      this.#queue.push(take)
      signal.addEventListener('abort', leave)
    })
  }
}
