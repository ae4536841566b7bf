import { CRON_FIELDS, type CronField, cronInterval, cronNumber, cronParts, findCronFault } from './cron.ts'

const ALIASES: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
}
const DAY = 86_400_000
/** Number of days to search: 29 February may be eight years away. */
const DAYS = 8 * 366 + 1

/** Maximum length of an expression, in characters: a longer one takes too long to evaluate. */
const LONGEST = 1000
/** Longest time by which clocks are set back, in milliseconds. Within this time, clocks change at most once. */
const SETBACK = 3 * 3_600_000

/**
 * Returns the first time after `after` at which a cron expression fires, both in milliseconds since 1970, by the rules
 * of Kubernetes. An interval (`@every 1h`) begins at `begun`. Returns undefined if the expression never fires, is
 * invalid or too long, if the time zone is unknown, or if an interval is passed without `begun`.
 */
export function nextFire(cron: string, timeZone: string, after: number, begun?: number): number | undefined {
  if (cron.length > LONGEST || findCronFault(cron)) return undefined
  const interval = cronInterval(cron.trim())
  if (interval !== undefined) return begun === undefined ? undefined : nextOf(interval, begun, after)
  const format = clockOf(timeZone)
  if (!format) return undefined
  const { minutes, hours, days, months, weekdays, isEither } = fieldsOf(cron)
  const now = wallTime(format, after)
  // While clocks do not change, a time that they have shown does not come again.
  const from = wallTime(format, after + SETBACK) === now + SETBACK ? now : now - SETBACK
  const today = Math.floor(from / DAY) * DAY
  for (let day = today; day < today + DAYS * DAY; day += DAY) {
    const date = new Date(day)
    const [isDay, isWeekday] = [days.has(date.getUTCDate()), weekdays.has(date.getUTCDay())]
    if (!months.has(date.getUTCMonth() + 1) || !(isEither ? isDay || isWeekday : isDay && isWeekday)) continue
    for (const hour of hours)
      for (const minute of minutes) {
        const wall = day + (hour * 60 + minute) * 60_000
        const time = wall < from ? undefined : instantOf(format, wall)
        if (time !== undefined && time > after) return time
      }
  }
  return undefined
}

/**
 * Returns true for a valid cron expression that never fires because none of its months has one of its days (`0 0 30 2
 * *`). Kubernetes accepts such an expression, but never starts a run.
 */
export function neverFires(cron: string): boolean {
  if (cron.length > LONGEST || findCronFault(cron) || cron.trim().startsWith('@every ')) return false
  const { days, months, isEither } = fieldsOf(cron)
  return !isEither && ![...months].some(month => [...days].some(day => day <= LENGTHS[month - 1]!))
}

/** Number of days of each month, in a leap year. */
const LENGTHS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

type Values = ReadonlySet<number>

/** Returns the values of the fields of a valid expression. */
function fieldsOf(cron: string) {
  const written = (ALIASES[cron.trim()] ?? cron.trim()).split(/\s+/)
  const fields = CRON_FIELDS.map((field, index) => valuesOf(written[index]!, field))
  const [minutes, hours, days, months, weekdays] = fields as [Values, Values, Values, Values, Values]
  // If both the day of the month and the day of the week are restricted, one of them is enough.
  const isEither = !isStar(written[2]!) && !isStar(written[4]!)
  return { minutes, hours, days, months, weekdays, isEither }
}

/** Returns true for a field that restricts nothing: one of its parts is `*`. For Kubernetes, `*\/2` is a restriction. */
const isStar = (field: string): boolean => cronParts(field).some(part => /^[*?](?:\/0*1)?$/.test(part))

/**
 * Returns the first end of an interval after `after`. The intervals follow one another, and the first one begins at
 * `begun`.
 */
const nextOf = (interval: number, begun: number, after: number): number =>
  begun + Math.max(1, Math.floor((after - begun) / interval) + 1) * interval

/** Returns the values of a field, in ascending order. */
function valuesOf(text: string, field: CronField): Values {
  const values = cronParts(text).flatMap(part => {
    const [range = '', step] = part.split('/')
    const isAny = range === '*' || range === '?'
    const [from = 0, to] = isAny ? [field.least, field.most] : range.split('-').map(one => cronNumber(one, field)!)
    // `5/15` begins at 5 and has no end.
    const last = to ?? (step === undefined ? from : field.most)
    const every = Number(step ?? 1)
    return Array.from({ length: Math.floor((last - from) / every) + 1 }, (_, index) => from + index * every)
  })
  return new Set(values.sort((a, b) => a - b))
}

/**
 * Returns a formatter for the local time of a time zone; undefined if this machine does not know the zone, although the
 * cluster may know it.
 */
function clockOf(timeZone: string): Intl.DateTimeFormat | undefined {
  try {
    return new Intl.DateTimeFormat('en-US', {
      ...{ timeZone, hourCycle: 'h23', year: 'numeric', month: 'numeric', day: 'numeric' },
      ...{ hour: 'numeric', minute: 'numeric', second: 'numeric' },
    })
  } catch {
    return undefined
  }
}

/** Returns the time that clocks of the time zone show, as if it were UTC. */
function wallTime(format: Intl.DateTimeFormat, time: number): number {
  const part = Object.fromEntries(format.formatToParts(time).map(({ type, value }) => [type, Number(value)]))
  return Date.UTC(part['year']!, part['month']! - 1, part['day']!, part['hour']!, part['minute']!, part['second']!)
}

/** Returns the time at which clocks show `wall`; undefined if clocks skip `wall` when summer time begins. */
function instantOf(format: Intl.DateTimeFormat, wall: number): number | undefined {
  const guess = wall - (wallTime(format, wall) - wall)
  return [guess, guess + wall - wallTime(format, guess)].find(time => wallTime(format, time) === wall)
}
