import { PlatformError } from './platform-error.ts'

/** Maximum number of open streams: of one user, and in total. */
export interface StreamLimits {
  readonly ofOne: number
  readonly ofAll: number
  /** Name of the streams in messages, such as `logs of runs`. */
  readonly what: string
}

/** Counts the open streams of one kind. Each stream uses memory for as long as its client keeps it open. */
export class OpenStreams {
  readonly #most: StreamLimits
  readonly #of = new Map<string, number>()
  #all = 0

  constructor(most: StreamLimits) {
    this.#most = most
  }

  /** Throws a PlatformError if a user may not open another stream. */
  check(user: string): void {
    const { ofOne, ofAll, what } = this.#most
    // Clients repeat a request that gets 503, but waiting does not help a user who has reached their own limit.
    if ((this.#of.get(user) ?? 0) >= ofOne)
      throw new PlatformError(429, 'busy', `you already have ${ofOne} ${what} open`, {
        hint: 'close some pages, or stop commands that follow logs',
      })
    if (this.#all >= ofAll)
      throw new PlatformError(503, 'busy', `${ofAll} ${what} are already open`, { hint: 'try again in a moment' })
  }

  /**
   * Yields the events of a stream, and counts the stream as open until the events end. Throws a PlatformError if too
   * many streams are open when the first event is requested.
   */
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
