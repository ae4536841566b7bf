/** When a line was written, as the node says. */
export interface LogTime {
  /** Seconds since 1970. */
  readonly seconds: number
  readonly nanos: number
}

/** A line of a container's log. */
export interface LogLine {
  readonly time: LogTime
  readonly text: string
}

const STAMP = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)(?: |$)/

/**
 * Parts a line that was asked for with its time stamp; undefined for one that has none: a word of
 * the node's own, or the rest of an overlong line.
 */
export function parseLine(raw: string): LogLine | undefined {
  const stamp = STAMP.exec(raw)
  if (!stamp) return undefined
  const [whole, moment, fraction = '', zone] = stamp
  const milliseconds = Date.parse(`${moment}${zone}`)
  if (Number.isNaN(milliseconds)) return undefined
  // Numbers, not texts: a part of a text keeps the whole of it in memory.
  return {
    time: { seconds: milliseconds / 1000, nanos: Number(fraction.padEnd(9, '0')) },
    text: raw.slice(whole.length),
  }
}

/** Negative when `a` is before `b`. */
export const compareTimes = (a: LogTime, b: LogTime): number => a.seconds - b.seconds || a.nanos - b.nanos

/** `2026-01-31T12:00:00.123456789Z`, as Kubernetes writes time stamps. */
export const formatTime = ({ seconds, nanos }: LogTime): string =>
  `${new Date(seconds * 1000).toISOString().slice(0, 19)}.${String(nanos).padStart(9, '0')}Z`
