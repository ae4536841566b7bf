import { failed, type Parsed, parsed } from '../parsed.ts'
import { parseDecimal, scaleDecimal } from './decimal.ts'

const POWERS: Readonly<Record<string, bigint>> = { '': 0n, k: 1n, m: 2n, g: 3n, t: 4n, p: 5n }
const HINT = 'write a whole number of bytes, or a number with `k`, `m`, `g` or `t`: `512m`, `1.5g`'
const MOST = 2n ** 63n - 1n

/**
 * Parses a size in bytes. Accepts the suffixes `b`, `k kb kib`, `m`, `g`, `t`, `p` in any case, all as powers of 1024.
 * Also accepts the Kubernetes suffixes (`Ki Mi Gi Ti`), because `resources` in the devctl dialect uses them. Allows
 * `-1`, which means no limit for some keys. Drops fractions of a byte after a suffix. A YAML number must be an integer,
 * because the reference loader reads `mem_limit: 1.5` as 0. (Compose Specification, Specifying byte values)
 */
export function parseBytes(value: string | number | bigint): Parsed<bigint> {
  if (typeof value === 'bigint') return inRange(value)
  if (typeof value === 'number')
    return Number.isSafeInteger(value) ? parsed(BigInt(value)) : failed('it is not a whole number of bytes', HINT)
  if (/^[-+]?[0-9]{1,100}$/.test(value)) return inRange(BigInt(value.replace('+', '')))

  if (value.length > 100) return failed('it is not a valid size', HINT)
  const [, digits = '', suffix = ''] = /^(.*?) ?([a-zA-Z]*)$/s.exec(value) ?? []
  const number = parseDecimal(digits.replace(/(?<=[0-9])_(?=[0-9])/g, ''))
  if (!number) return failed('it is not a valid size', HINT)
  if (number.coefficient < 0n) return failed('it must not be negative', HINT)
  const power = /^([kmgtp])(i?b?)$|^()b?$/i.exec(suffix)
  if (!power) return failed(`\`${suffix}\` is not a valid unit`, HINT, [value.length - suffix.length, value.length])

  const factor = 1024n ** POWERS[(power[1] ?? '').toLowerCase()]!
  const { whole, exact } = scaleDecimal(number, factor)
  return factor === 1n && !exact ? failed('it is not a whole number of bytes', HINT) : inRange(whole)
}

function inRange(bytes: bigint): Parsed<bigint> {
  return bytes > MOST || bytes < -MOST ? failed('it is too large', HINT) : parsed(bytes)
}
