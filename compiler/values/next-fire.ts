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
  const fields = fieldsOf(cron)
  const today = Math.floor(wallTime(format, after) / DAY) * DAY
  // Clocks that go back at midnight show times of the previous day again.
  for (let day = today - DAY; day < today + DAYS * DAY; day += DAY) {
    const time = isDue(fields, new Date(day)) ? firstOf(format, wallTimes(fields, day), after) : undefined
    if (time !== undefined) return time
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

interface Fields {
  readonly minutes: Values
  readonly hours: Values
  readonly days: Values
  readonly months: Values
  readonly weekdays: Values
  /**
   * True if both the day of the month and the day of the week are restricted. A day then has to match only one of the
   * two fields.
   */
  readonly isEither: boolean
}

/** Returns the values that each field of a valid expression allows. */
function fieldsOf(cron: string): Fields {
  const written = (ALIASES[cron.trim()] ?? cron.trim()).split(/\s+/)
  const fields = CRON_FIELDS.map((field, index) => valuesOf(written[index]!, field))
  const [minutes, hours, days, months, weekdays] = fields as [Values, Values, Values, Values, Values]
  const isEither = !isStar(written[2]!) && !isStar(written[4]!)
  return { minutes, hours, days, months, weekdays, isEither }
}

/** Returns true for a field of which a part is `*` or `?`. For Kubernetes, `*\/2` is a restriction. */
const isStar = (field: string): boolean => cronParts(field).some(part => /^[*?](?:\/0*1)?$/.test(part))

/** Returns true if the expression fires on a day. The UTC fields of `date` contain the local date of this day. */
function isDue({ days, months, weekdays, isEither }: Fields, date: Date): boolean {
  const [isDay, isWeekday] = [days.has(date.getUTCDate()), weekdays.has(date.getUTCDay())]
  return months.has(date.getUTCMonth() + 1) && (isEither ? isDay || isWeekday : isDay && isWeekday)
}

/**
 * Returns the local times at which the expression fires on a day, in ascending order. The times, and the start `day` of
 * the day, are in milliseconds since 1970, as if local time were UTC.
 */
const wallTimes = ({ hours, minutes }: Fields, day: number): readonly number[] =>
  [...hours].flatMap(hour => [...minutes].map(minute => day + (hour * 60 + minute) * 60_000))

/**
 * Returns the first end of an interval after `after`. The intervals follow one another, and the first one begins at
 * `begun`.
 */
const nextOf = (interval: number, begun: number, after: number): number =>
  begun + Math.max(1, Math.floor((after - begun) / interval) + 1) * interval

/** Returns the values that a field of an expression allows, in ascending order. */
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

/** Returns the local time that a formatter shows for `time`, in milliseconds since 1970, as if local time were UTC. */
function wallTime(format: Intl.DateTimeFormat, time: number): number {
  const part = Object.fromEntries(format.formatToParts(time).map(({ type, value }) => [type, Number(value)]))
  return Date.UTC(part['year']!, part['month']! - 1, part['day']!, part['hour']!, part['minute']!, part['second']!)
}

/**
 * Returns the first time after `after` at which clocks show one of the local times `walls`, which belong to one day and
 * are in ascending order; undefined if there is none. When clocks go back, they show a time twice. When they go
 * forward, they skip times.
 */
function firstOf(format: Intl.DateTimeFormat, walls: readonly number[], after: number): number | undefined {
  const times = offsetsAround(format, walls[0]!).flatMap(
    offset =>
      walls.map(wall => wall - offset).find(time => time > after && wallTime(format, time) === time + offset) ?? [],
  )
  return times.length === 0 ? undefined : Math.min(...times)
}

/**
 * Returns the offsets from UTC that a time zone has before and after a local time, in milliseconds: two offsets if the
 * clocks change around this time and one if they do not.
 */
const offsetsAround = (format: Intl.DateTimeFormat, wall: number): readonly number[] => [
  ...new Set([wall - DAY, wall + 2 * DAY].map(time => wallTime(format, time) - time)),
]
