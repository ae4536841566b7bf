import { createHash } from 'node:crypto'
import { compareTimes, formatTime, type LogTime, parseLine } from '../../../environment/logs/line.ts'
import type { LogSource } from '../../../environment/logs/source.ts'

const SECOND = 1_000_000_000
/** Maximum number of containers in an id, because the server accepts ids of up to 2,500 characters. */
const MOST = 150

/**
 * Progress of a log stream: the time of the last line of each container, without containers whose last line is older
 * than the newest line of the stream by more than the overlap. The event ids contain the progress. A client that
 * resumes therefore gets late lines of other containers, and no line twice.
 */
export class SentLines {
  readonly #overlap: number
  #newest: LogTime | undefined
  readonly #times = new Map<string, LogTime>()
  /** Progress at the time when the client resumed. */
  readonly #before: { readonly newest: LogTime | undefined; readonly times: ReadonlyMap<string, LogTime> }

  /** Reads the id of the last event that the client received. `overlap` is in milliseconds. */
  constructor(id: string | undefined, overlap: number) {
    this.#overlap = overlap * 1_000_000
    const [time = '', ...entries] = id?.split('_') ?? []
    this.#newest = parseLine(time)?.time
    if (this.#newest)
      for (const entry of entries) {
        const [key = '', behind = ''] = entry.split('.')
        this.#times.set(key, earlier(this.#newest, Number.parseInt(behind, 36) || 0))
      }
    this.#before = { newest: this.#newest, times: new Map(this.#times) }
  }

  /** Time of the newest line that the client had when it resumed; undefined for a new client. */
  get resumed(): LogTime | undefined {
    return this.#before.newest
  }

  /** True if the client had already received a line when it resumed. */
  isKnown(source: LogSource, time: LogTime): boolean {
    const { newest, times } = this.#before
    if (!newest) return false
    return compareTimes(time, times.get(keyOf(source)) ?? earlier(newest, this.#overlap)) <= 0
  }

  /** Records a line, and returns the id of its event. */
  add(source: LogSource, time: LogTime): string {
    if (!this.#newest || compareTimes(time, this.#newest) > 0) this.#newest = time
    this.#times.set(keyOf(source), time)
    const newest = this.#newest
    for (const [key, last] of this.#times) if (nanosBetween(last, newest) > this.#overlap) this.#times.delete(key)
    const entries = [...this.#times]
      .slice(0, MOST)
      .map(([key, last]) => `_${key}.${nanosBetween(last, newest).toString(36)}`)
    return `${formatTime(newest)}${entries.join('')}`
  }
}

/** Returns a short key of a container, of characters that are valid in an id. */
const keyOf = ({ pod, container }: LogSource): string =>
  createHash('sha256').update(`${pod}/${container}`).digest('hex').slice(0, 8)

const nanosBetween = (a: LogTime, b: LogTime): number => (b.seconds - a.seconds) * SECOND + b.nanos - a.nanos

function earlier({ seconds, nanos }: LogTime, by: number): LogTime {
  const total = nanos - by
  const borrowed = Math.floor(total / SECOND)
  return { seconds: seconds + borrowed, nanos: total - borrowed * SECOND }
}
