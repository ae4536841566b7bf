import { CRON_FIELDS, type CronField, cronNumber, findCronFault } from './cron.ts'

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
/** Milliseconds by which clocks go back at most, and in which they change once at most. */
const SETBACK = 3 * 3_600_000

/**
 * Returns the first time after `after` at which a cron expression fires, both in milliseconds since 1970, by the rules
 * of Kubernetes. Returns undefined for an expression that never fires, that is invalid or too long, or whose times
 * depend on the cluster (`@every 1h`), and for an unknown time zone.
 */
export function nextFire(cron: string, timeZone: string, after: number): number | undefined {
  const text = ALIASES[cron.trim()] ?? cron.trim()
  if (text.length > LONGEST || text.startsWith('@') || findCronFault(text)) return undefined
  const format = clockOf(timeZone)
  if (!format) return undefined
  const written = text.split(/\s+/)
  const fields = CRON_FIELDS.map((field, index) => valuesOf(written[index]!, field))
  const [minutes, hours, days, months, weekdays] = fields as [Values, Values, Values, Values, Values]
  // If both the day of the month and the day of the week are restricted, one of them is enough.
  const isEither = [written[2]!, written[4]!].every(one => !/^[*?]/.test(one))
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

type Values = ReadonlySet<number>

/** Returns the values of a field, in ascending order. */
function valuesOf(text: string, field: CronField): Values {
  const values = text.split(',').flatMap(part => {
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

/** Returns the clock of a time zone; undefined if the zone is unknown here, which the cluster may still know. */
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

/** Returns when clocks show a time; undefined if they skip it because summer time begins. */
function instantOf(format: Intl.DateTimeFormat, wall: number): number | undefined {
  const guess = wall - (wallTime(format, wall) - wall)
  return [guess, guess + wall - wallTime(format, guess)].find(time => wallTime(format, time) === wall)
}
