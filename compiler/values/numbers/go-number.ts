import { type Failed, failed, type Parsed, parsed } from '../parsed.ts'
import { parseDecimal } from './decimal.ts'

/**
 * Formats a floating-point number like Go: with the fewest digits that identify the number, and with an exponent from
 * 1e+06 up and below 0.0001. The reference loader puts this text into environment variables. `bits` is the width of the
 * number.
 */
export function goFloat(value: number, bits: 32 | 64 = 64): string {
  if (Number.isNaN(value)) return 'NaN'
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf'
  if (value === 0) return Object.is(value, -0) ? '-0' : '0'
  const shortest = bits === 32 ? shortest32(value) : value.toExponential()
  const [digits = '', exponentText = ''] = shortest.split('e')
  const exponent = Number(exponentText)
  if (exponent >= -4 && exponent < 6) return String(Number(shortest))
  return `${digits}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`
}

function shortest32(value: number): string {
  const held = Math.fround(value)
  for (let digits = 0; digits < 9; digits++) {
    const text = held.toExponential(digits)
    if (Math.fround(Number(text)) === held) return text
  }
  return held.toExponential()
}

/** Parses a decimal integer of up to 64 bits; returns a bigint if a number would lose digits. */
export function toInt(text: string): Parsed<number | bigint> {
  if (!/^[-+]?[0-9]{1,100}$/.test(text)) return failed('it is not a whole number')
  const value = BigInt(text.replace('+', ''))
  if (value >= 2n ** 63n || value < -(2n ** 63n)) return failed('it does not fit into 64 bits')
  return parsed(Number.isSafeInteger(Number(value)) ? Number(value) : value)
}

/**
 * Parses a decimal number, such as `1.5`, `.5` or `1e3`. Refuses the hexadecimal, infinite and NaN values that the
 * reference loader accepts.
 */
export function toFloat(text: string): Parsed<number> {
  const digits = text.replace(/(?<=[0-9])_(?=[0-9])/g, '')
  if (!parseDecimal(digits)) return failed('it is not a number')
  const value = Number(digits)
  return Number.isFinite(value) ? parsed(value) : failed('it is too large')
}

/** The result of parsing a boolean. `yaml11` marks values that are booleans only in YAML 1.1. */
export type ParsedBool = { readonly ok: true; readonly value: boolean; readonly yaml11?: true } | Failed

const YAML11: ReadonlyMap<string, boolean> = new Map([
  ['y', true],
  ['yes', true],
  ['on', true],
  ['n', false],
  ['no', false],
  ['off', false],
])

/**
 * Parses `true` or `false` in any case. Also accepts the booleans of YAML 1.1, which are marked. `1` and `0` are not
 * booleans.
 */
export function toBool(text: string): ParsedBool {
  const word = text.toLowerCase()
  if (word === 'true' || word === 'false') return { ok: true, value: word === 'true' }
  const value = YAML11.get(word)
  return value === undefined
    ? failed('it is not a boolean', 'write `true` or `false`')
    : { ok: true, value, yaml11: true }
}
