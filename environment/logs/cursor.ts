import { compareTimes, type LogTime } from './line.ts'

/**
 * Number of recent lines to remember. Lines from stdout and stderr of a container may be out of order by a few lines.
 */
const REMEMBERED = 256

/**
 * Position up to which the log of a container was read. Reading can resume at the time of the last line without losing
 * or repeating a line, although the resumed read can only start at a full second. The position stays valid across
 * restarts, because the log of the next run begins after the end of the previous run.
 */
export class Cursor {
  readonly #recent: LogTime[] = []
  #next = 0
  #last: LogTime | undefined
  /** Remembered lines that are expected again after `rewind`, with the number of occurrences. */
  #expected: Map<string, number> | undefined

  /** True if no line was read yet. */
  get isEmpty(): boolean {
    return this.#last === undefined
  }

  /** Time to read from, in RFC 3339; undefined to read from the beginning. */
  get since(): string | undefined {
    return this.#last && new Date(this.#last.seconds * 1000).toISOString()
  }

  /** Prepares for reading again: the lines from `since` on are expected once more. */
  rewind(): void {
    this.#expected = new Map()
    for (const time of this.#recent) {
      const key = keyOf(time)
      this.#expected.set(key, (this.#expected.get(key) ?? 0) + 1)
    }
  }

  /** Records that the line with this time was read; returns false if the line was read before. */
  take(time: LogTime): boolean {
    if (this.#isRepeated(time)) return false
    if (this.#last === undefined || compareTimes(time, this.#last) > 0) this.#last = time
    this.#recent[this.#next] = time
    this.#next = (this.#next + 1) % REMEMBERED
    return true
  }

  #isRepeated(time: LogTime): boolean {
    if (this.#expected === undefined || this.#last === undefined) return false
    const oldest = this.#recent[this.#recent.length < REMEMBERED ? 0 : this.#next]!
    if (compareTimes(time, oldest) < 0) return true
    const key = keyOf(time)
    const left = this.#expected.get(key)
    if (!left) return false
    if (left === 1) this.#expected.delete(key)
    else this.#expected.set(key, left - 1)
    return true
  }
}

const keyOf = ({ seconds, nanos }: LogTime): string => `${seconds}.${nanos}`
