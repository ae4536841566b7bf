import { parseDuration } from './numbers/duration.ts'

/** The fault of a cron expression, and what to write. */
export interface CronFault {
  readonly fault: string
  readonly hint: string
}

/** A field of a cron expression. */
export interface CronField {
  readonly name: string
  readonly least: number
  readonly most: number
  /** Names of the values, in order. The first name stands for the value `least`. */
  readonly names?: readonly string[]
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']
/** Fields of a cron expression, in order. */
export const CRON_FIELDS: readonly CronField[] = [
  { name: 'minute', least: 0, most: 59 },
  { name: 'hour', least: 0, most: 23 },
  { name: 'day of the month', least: 1, most: 31 },
  { name: 'month', least: 1, most: 12, names: MONTHS },
  { name: 'day of the week', least: 0, most: 6, names: DAYS },
]
const DESCRIPTORS = ['@yearly', '@annually', '@monthly', '@weekly', '@daily', '@midnight', '@hourly']
const HINT = 'write minute, hour, day of the month, month and day of the week: `30 3 * * mon-fri`'

/**
 * Returns the fault of a cron expression, by the rules of Kubernetes
 * (https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/#schedule-syntax); undefined if it has none.
 */
export function findCronFault(text: string): CronFault | undefined {
  const cron = text.trim()
  if (/^(?:CRON_)?TZ=/.test(cron)) return { fault: 'it contains a time zone', hint: 'write `timezone: …`' }
  if (cron.startsWith('@')) {
    if (DESCRIPTORS.includes(cron) || cronInterval(cron) !== undefined) return undefined
    return {
      fault: `\`${cron}\` is unknown`,
      hint: `the names are ${DESCRIPTORS.map(one => `\`${one}\``).join(', ')}; for an interval, write \`@every 5m\``,
    }
  }
  const fields = cron.split(/\s+/).filter(Boolean)
  if (fields.length !== CRON_FIELDS.length)
    return { fault: `it has ${fields.length} ${fields.length === 1 ? 'field' : 'fields'} instead of 5`, hint: HINT }
  for (const [index, field] of CRON_FIELDS.entries()) {
    const written = fields[index]!
    const parts = cronParts(written)
    const part = parts.length === 0 ? written : parts.find(one => !isValidPart(one, field))
    if (part === undefined) continue
    return {
      fault: `\`${part}\` is not valid for the ${field.name}`,
      hint: sundayHint(part, field) ?? rangeHint(field),
    }
  }
  return undefined
}

/** Returns the parts of a field, between its commas. Kubernetes ignores empty parts. */
export const cronParts = (field: string): readonly string[] => field.split(',').filter(Boolean)

/**
 * Returns the interval of `@every 1h30m` in milliseconds, rounded as Kubernetes does: down to whole seconds, but at
 * least one second. Returns undefined for other expressions, and if the interval is invalid.
 */
export function cronInterval(cron: string): number | undefined {
  // Go, which reads the interval, has no days and weeks. Kubernetes accepts a negative interval, but runs every second.
  const [, written] = /^@every ([^-dw]+)$/.exec(cron) ?? []
  const interval = written === undefined ? undefined : parseDuration(written)
  return interval?.ok ? Math.max(1, Number(interval.value / SECOND)) * 1000 : undefined
}

/** Number of nanoseconds in a second. */
const SECOND = 1_000_000_000n

const rangeHint = ({ name, least, most }: CronField): string => `the ${name} is between ${least} and ${most}`

/** Returns a hint for a day, or for the end of a range of days, that is written `7`; undefined for other parts. */
function sundayHint(part: string, { names }: CronField): string | undefined {
  const match = names === DAYS ? /^(?:(\w+)-)?7$/.exec(part) : null
  if (!match) return undefined
  const [, from] = match
  return from === undefined ? 'write `0` for Sunday' : `Sunday is \`0\`: write \`${from}-6,0\``
}

/** Returns true for `*`, `5`, `1-5` and `mon-fri`, with or without a step (`*\/15`, `8-18/2`). */
function isValidPart(part: string, field: CronField): boolean {
  const [, range = '', step] = /^([^/]+)(?:\/(\d+))?$/.exec(part) ?? []
  if (range === '' || (step !== undefined && Number(step) === 0)) return false
  if (range === '*' || range === '?') return true
  const values = range.split('-').map(one => cronNumber(one, field))
  const [from, to] = values.length === 1 ? [values[0], values[0]] : values
  return values.length <= 2 && from !== undefined && to !== undefined && from <= to
}

/** Returns the value of a number or a name; undefined if the value is outside the range of the field. */
export function cronNumber(text: string, { least, most, names = [] }: CronField): number | undefined {
  const index = names.indexOf(text.toLowerCase())
  if (index >= 0) return index + least
  const value = /^\d+$/.test(text) ? Number(text) : undefined
  return value !== undefined && value >= least && value <= most ? value : undefined
}
