import type { Clock } from '../clock.ts'
import { compareTimes, type LogLine } from './line.ts'

/** Maximum time in milliseconds that other logs wait for the next line of one log. */
const LONGEST_HOLD = 3000

/** Log that is being read, with its next line. */
interface Head<Source> {
  readonly source: Source
  readonly lines: AsyncIterator<LogLine>
  line: LogLine
}

/** Log that did not respond in time, to be read separately. */
export interface Late<Source> {
  readonly source: Source
  readonly rest: AsyncIterable<LogLine>
}

/**
 * Prints the lines of several logs in order of time. Reads no faster than the lines are printed, and keeps one line of
 * each log in memory. Skips and returns a log that keeps the others waiting because its node does not respond.
 */
export async function mergeLogs<Source>(
  logs: readonly { readonly source: Source; readonly lines: AsyncIterable<LogLine> }[],
  print: (source: Source, line: LogLine) => Promise<void> | void,
  clock: Clock,
): Promise<readonly Late<Source>[]> {
  const waits = new LimitedWaits(clock)
  const late: Late<Source>[] = []
  const next = async (source: Source, lines: AsyncIterator<LogLine>): Promise<LogLine | undefined> => {
    const coming = lines.next()
    const result = await waits.wait(coming)
    if (result === 'late') late.push({ source, rest: restOf(coming, lines) })
    else if (!result.done) return result.value
    return undefined
  }
  try {
    const begun = await Promise.all(
      logs.map(async ({ source, lines: iterable }): Promise<Head<Source>[]> => {
        const lines = iterable[Symbol.asyncIterator]()
        const line = await next(source, lines)
        return line ? [{ source, lines, line }] : []
      }),
    )
    const heads = begun.flat()
    for (let first = earliest(heads); first !== undefined; first = earliest(heads)) {
      await print(first.source, first.line)
      const line = await next(first.source, first.lines)
      if (line) first.line = line
      else heads.splice(heads.indexOf(first), 1)
    }
    return late
  } finally {
    waits.stop()
  }
}

function earliest<Source>(heads: readonly Head<Source>[]): Head<Source> | undefined {
  let first = heads[0]
  for (const head of heads) if (first && compareTimes(head.line.time, first.line.time) < 0) first = head
  return first
}

async function* restOf(
  coming: Promise<IteratorResult<LogLine>>,
  lines: AsyncIterator<LogLine>,
): AsyncGenerator<LogLine> {
  for (let result = await coming; !result.done; result = await lines.next()) yield result.value
}

/** Waits for promises with a time limit. All share one timer, because there may be one wait for each line of a log. */
class LimitedWaits {
  readonly #waiting = new Set<{ ticks: number; readonly giveUp: () => void }>()
  readonly stop: () => void

  constructor(clock: Clock) {
    const step = LONGEST_HOLD / 3
    this.stop = clock.every(step, () => {
      for (const one of this.#waiting) if (++one.ticks > 3) one.giveUp()
    })
  }

  wait<T>(promise: Promise<T>): Promise<T | 'late'> {
    return new Promise((resolve, reject) => {
      const one = { ticks: 0, giveUp: () => end(() => resolve('late')) }
      const end = (finish: () => void) => {
        this.#waiting.delete(one)
        finish()
      }
      this.#waiting.add(one)
      promise.then(
        value => end(() => resolve(value)),
        error => end(() => reject(error)),
      )
    })
  }
}
