import { PlatformError } from './platform-error.ts'

/** Streams that may be open at the same time: of one person, and of all. */
export interface MostStreams {
  readonly ofOne: number
  readonly ofAll: number
  /** What they are, in a message: `logs of runs`. */
  readonly what: string
}

/** Counts the streams of one sort that are open: each takes memory for as long as its client likes. */
export class OpenStreams {
  readonly #most: MostStreams
  readonly #of = new Map<string, number>()
  #all = 0

  constructor(most: MostStreams) {
    this.#most = most
  }

  /** Throws a PlatformError if somebody may not open another one. */
  check(user: string): void {
    const { ofOne, ofAll, what } = this.#most
    const hint = 'close some pages, or commands that follow'
    if ((this.#of.get(user) ?? 0) >= ofOne)
      throw new PlatformError(503, 'busy', `you look at ${ofOne} ${what} already`, { hint })
    if (this.#all >= ofAll)
      throw new PlatformError(503, 'busy', `people look at ${ofAll} ${what} already`, { hint: 'try again in a moment' })
  }

  /** The events of a stream, which is open until they end. Throws a PlatformError if others have opened too many meanwhile. */
  async *counted<T>(user: string, events: AsyncIterable<T>): AsyncGenerator<T> {
    this.check(user)
    this.#of.set(user, (this.#of.get(user) ?? 0) + 1)
    this.#all++
    try {
      yield* events
    } finally {
      this.#all--
      const left = this.#of.get(user)! - 1 // it was counted
      if (left > 0) this.#of.set(user, left)
      else this.#of.delete(user)
    }
  }
}
