/** Time at which a line was written, according to the node. */
export interface LogTime {
  /** Seconds since 1970. */
  readonly seconds: number
  readonly nanos: number
}

/** Line of a container's log. */
export interface LogLine {
  readonly time: LogTime
  readonly text: string
}

const STAMP = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)(?: |$)/

/**
 * Parses a line that was requested with its timestamp. Undefined for text without a timestamp: a message of the node
 * itself, or the rest of a line that was too long.
 */
export function parseLine(raw: string): LogLine | undefined {
  const stamp = STAMP.exec(raw)
  if (!stamp) return undefined
  const [whole, moment, fraction = '', zone] = stamp
  const milliseconds = Date.parse(`${moment}${zone}`)
  if (Number.isNaN(milliseconds)) return undefined
  // Numbers, because a substring would keep the full line in memory.
  return {
    time: { seconds: milliseconds / 1000, nanos: Number(fraction.padEnd(9, '0')) },
    text: raw.slice(whole.length),
  }
}

/**
 * Compares two times: returns a negative number if `a` is before `b`, a positive number if `a` is after `b`, and 0 if
 * they are equal.
 */
export const compareTimes = (a: LogTime, b: LogTime): number => a.seconds - b.seconds || a.nanos - b.nanos

/** Formats a time like the timestamps of Kubernetes: `2026-01-31T12:00:00.123456789Z`. */
export const formatTime = ({ seconds, nanos }: LogTime): string =>
  `${new Date(seconds * 1000).toISOString().slice(0, 19)}.${String(nanos).padStart(9, '0')}Z`
