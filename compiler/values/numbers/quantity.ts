import { failed, type Parsed, parsed } from '../parsed.ts'
import { parseDecimal, scaleDecimalUp } from './decimal.ts'

/** A parsed Kubernetes quantity, as text and as a number. */
export interface Quantity {
  /** Canonical form of the quantity, as the API server writes it: `500m` for `0.5`, `1Gi` for `1024Mi`. */
  readonly canonical: string
  /** Value in thousandths of the unit (a core or a byte), rounded up. */
  readonly milli: bigint
}

/** Decimal suffixes and their powers of ten, largest first. */
const DECIMAL: ReadonlyMap<string, number> = new Map([
  ['E', 18],
  ['P', 15],
  ['T', 12],
  ['G', 9],
  ['M', 6],
  ['k', 3],
  ['', 0],
  ['m', -3],
  ['u', -6],
  ['n', -9],
])
/** Binary suffixes and their powers of two, largest first. */
const BINARY: ReadonlyMap<string, bigint> = new Map([
  ['Ei', 60n],
  ['Pi', 50n],
  ['Ti', 40n],
  ['Gi', 30n],
  ['Mi', 20n],
  ['Ki', 10n],
])
const NANO = 1_000_000_000n
const MOST = (2n ** 63n - 1n) * NANO

/**
 * Parses a Kubernetes quantity: a decimal number with a suffix of `n u m k M G T P E` (powers of 1000) or `Ki Mi Gi Ti
 * Pi Ei` (powers of 1024), or with an exponent. Refuses negative quantities, because nothing that Compose describes can
 * be negative. (https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/)
 */
export function parseQuantity(text: string): Parsed<Quantity> {
  const match = /^([-+]?[0-9.]+)((?:[eE][-+]?[0-9]+)?)([a-zA-Z]*)$/.exec(text)
  const number = match && parseDecimal(match[1]! + match[2]!)
  if (!match || !number)
    return failed('it is not a valid quantity', 'write `500m` or `0.5` for CPU, `512Mi` or `1Gi` for memory')
  const [, digits = '', exponent = '', suffix = ''] = match
  if (number.coefficient < 0n) return failed('it must not be negative', 'write zero or more')

  const power = DECIMAL.get(suffix)
  const shift = BINARY.get(suffix)
  if ((power === undefined && shift === undefined) || (exponent !== '' && suffix !== '')) {
    return failed(`\`${suffix}\` is not a valid unit`, unitHint(suffix), [digits.length + exponent.length, text.length])
  }
  const nano =
    shift === undefined
      ? scaleDecimalUp({ ...number, exponent: number.exponent + power! }, NANO)
      : scaleDecimalUp(number, (1n << shift) * NANO)
  if (nano > MOST) return failed('it is too large')
  return parsed({
    canonical: exponent !== '' ? withExponent(nano) : shift === undefined ? withDecimal(nano) : withBinary(nano),
    milli: ceilDivide(nano, NANO / 1000n),
  })
}

/**
 * Converts a number of cores in Compose to a CPU quantity: `0.5` becomes `500m`, `2` becomes `2`. The result is exact,
 * except that it is rounded up to Kubernetes' smallest unit of one thousandth.
 */
export function cpuQuantity(cpus: string | number): Parsed<string> {
  const number = parseDecimal(String(cpus).replace(/(?<=[0-9])_(?=[0-9])/g, ''))
  if (!number) return failed('it is not a valid number of CPUs', 'write a decimal number: `0.5` is half a core')
  if (number.coefficient < 0n) return failed('it must not be negative', 'write a number of CPUs above zero')
  const milli = scaleDecimalUp(number, 1000n)
  const nano = milli * (NANO / 1000n)
  return nano > MOST ? failed('it is too large') : parsed(withDecimal(nano))
}

/**
 * Converts a number of bytes to a memory quantity with the largest binary suffix that leaves no fraction. If every
 * binary suffix leaves a fraction, uses the largest decimal suffix that leaves none. The API server stores the quantity
 * unchanged.
 */
export function memoryQuantity(bytes: bigint): string {
  if (bytes !== 0n)
    for (const [suffix, shift] of BINARY) if (bytes % (1n << shift) === 0n) return `${bytes >> shift}${suffix}`
  return withDecimal(bytes * NANO)
}

/** Converts a number of items, such as devices, to a quantity. */
export const countQuantity = (count: number): string => withDecimal(BigInt(count) * NANO)

/** Formats a quantity, given in billionths of its unit, with the largest decimal suffix that leaves no fraction. */
function withDecimal(nano: bigint): string {
  if (nano === 0n) return '0'
  for (const [suffix, power] of DECIMAL) {
    const unit = 10n ** BigInt(power + 9)
    if (nano % unit === 0n) return `${nano / unit}${suffix}`
  }
  return `${nano}n`
}

/**
 * Formats a quantity, given in billionths of its unit, with a binary suffix. Kubernetes writes values below 1024
 * without one. Fractions of a byte in larger values are rounded up.
 */
function withBinary(nano: bigint): string {
  if (nano < 1024n * NANO) return withDecimal(nano)
  const whole = ceilDivide(nano, NANO)
  for (const [suffix, shift] of BINARY) if (whole % (1n << shift) === 0n) return `${whole >> shift}${suffix}`
  return whole.toString()
}

/**
 * Formats a quantity with an exponent that is a multiple of three. The API server uses this form for quantities that
 * were written with an exponent.
 */
function withExponent(nano: bigint): string {
  if (nano === 0n) return '0'
  for (const power of DECIMAL.values()) {
    const unit = 10n ** BigInt(power + 9)
    if (nano % unit === 0n) return power === 0 ? `${nano / unit}` : `${nano / unit}e${power}`
  }
  return `${nano}e-9`
}

const ceilDivide = (value: bigint, by: bigint): bigint => (value + by - 1n) / by

function unitHint(suffix: string): string {
  const known = [...BINARY.keys(), ...DECIMAL.keys()].find(
    unit => unit !== '' && unit.toLowerCase() === suffix.toLowerCase().replace(/b$/, ''),
  )
  return known
    ? `write \`${known}\``
    : 'use `m` for thousandths, `Ki Mi Gi Ti` for powers of 1024, `k M G T` for powers of 1000'
}
