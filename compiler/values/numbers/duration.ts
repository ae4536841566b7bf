import { failed, type Parsed, parsed } from '../parsed.ts'

/** Number of nanoseconds in each unit of Compose. */
const UNITS: ReadonlyMap<string, bigint> = new Map([
  ['ns', 1n],
  ['us', 1_000n],
  ['µs', 1_000n],
  ['μs', 1_000n],
  ['ms', 1_000_000n],
  ['s', 1_000_000_000n],
  ['m', 60_000_000_000n],
  ['h', 3_600_000_000_000n],
  ['d', 86_400_000_000_000n],
  ['w', 604_800_000_000_000n],
])
const LONGEST = 2n ** 63n - 1n
const HINT = 'write a number and a unit for each part: `1w2d3h4m5s6ms`'

/**
 * Parses a duration such as `1h30m` or `1.5d` into nanoseconds. Units are `w d h m s ms us ns`. A number needs a unit
 * unless it is `0`, or `unitless` sets the default unit (`stop_grace_period`). Accepts a sign, like the reference
 * loader, so the caller must refuse negative values. (Compose Specification, Specifying durations)
 */
export function parseDuration(text: string, options: { unitless?: 'seconds' } = {}): Parsed<bigint> {
  const sign = /^[-+]/.test(text) ? 1 : 0
  if (/^[-+]?0$/.test(text)) return parsed(0n)
  if (text.length > 100) return failed('it is not a valid duration', HINT)
  if (text.length === sign) return failed(text === '' ? 'it is empty' : 'it is not a valid duration', HINT)
  let total = 0n
  for (let at = sign; at < text.length; ) {
    const number = /^(?=\.?[0-9])([0-9]*)(?:\.([0-9]*))?/.exec(text.slice(at))
    if (!number) return failed('it is not a valid duration', HINT, [at, text.length])
    const unitAt = at + number[0].length
    const word = /^[^0-9.]*/.exec(text.slice(unitAt))![0]
    const seconds = word === '' && options.unitless === 'seconds' && at === sign && unitAt === text.length
    const unit = UNITS.get(seconds ? 's' : word)
    if (unit === undefined) return wrongUnit(number[0], word, [at, unitAt + word.length])
    total += scale(number[1]!, number[2] ?? '', unit)
    at = unitAt + word.length
  }
  if (total > LONGEST) return failed('it is longer than 292 years')
  return parsed(text.startsWith('-') ? -total : total)
}

/** Formats nanoseconds like Go, as the reference loader prints them: `1h0m5s`, `1.5ms`, `0s`. */
export function formatDuration(nanoseconds: bigint): string {
  if (nanoseconds < 0n) return `-${formatDuration(-nanoseconds)}`
  if (nanoseconds === 0n) return '0s'
  if (nanoseconds < 1_000n) return `${nanoseconds}ns`
  if (nanoseconds < 1_000_000n) return `${decimal(nanoseconds, 3)}µs`
  if (nanoseconds < 1_000_000_000n) return `${decimal(nanoseconds, 6)}ms`
  const minutes = nanoseconds / 60_000_000_000n
  const seconds = `${decimal(nanoseconds % 60_000_000_000n, 9)}s`
  if (minutes === 0n) return seconds
  return minutes < 60n ? `${minutes}m${seconds}` : `${minutes / 60n}h${minutes % 60n}m${seconds}`
}

/** Converts a number of units to nanoseconds; drops fractions of a nanosecond. */
function scale(whole: string, fraction: string, unit: bigint): bigint {
  return (BigInt(whole + fraction) * unit) / 10n ** BigInt(fraction.length)
}

function wrongUnit(number: string, word: string, at: readonly [number, number]): Parsed<bigint> {
  if (word === '')
    return failed('the unit is missing', `write \`${number}s\` for seconds, or another of \`w d h m s ms us ns\``, at)
  const known = UNITS.has(word.trim().toLowerCase()) ? `write \`${number}${word.trim().toLowerCase()}\`` : HINT
  return failed(`\`${word}\` is not a unit of time`, known, at)
}

/** Formats an integer as a decimal number, with its last `places` digits after the point and without trailing zeros. */
function decimal(value: bigint, places: number): string {
  const text = value.toString().padStart(places + 1, '0')
  const fraction = text.slice(-places).replace(/0+$/, '')
  return text.slice(0, -places) + (fraction && `.${fraction}`)
}
