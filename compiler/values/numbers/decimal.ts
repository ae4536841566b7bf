/** An exact decimal number: `coefficient × 10^exponent`. */
export interface Decimal {
  readonly coefficient: bigint
  readonly exponent: number
}

const DECIMAL = /^([-+]?)(?=\.?[0-9])([0-9]*)(?:\.([0-9]*))?(?:[eE]([-+]?[0-9]{1,3}))?$/
/** Longest text of a number: longer ones are not meant as amounts, and would make arithmetic slow. */
const LONGEST = 100

/**
 * Reads a decimal number (`1.5`, `.5`, `5.`, `1e3`) without rounding; undefined when the text is
 * none.
 */
export function parseDecimal(text: string): Decimal | undefined {
  const match = text.length <= LONGEST ? DECIMAL.exec(text) : null
  if (!match) return undefined
  const [, sign, whole = '', fraction = '', exponent = '0'] = match
  const digits = BigInt(whole + fraction)
  return { coefficient: sign === '-' ? -digits : digits, exponent: Number(exponent) - fraction.length }
}

/** The number times a factor, as a whole number rounded towards zero, and whether that is exact. */
export function scaleDecimal({ coefficient, exponent }: Decimal, factor: bigint): { whole: bigint; exact: boolean } {
  const scaled = coefficient * factor * 10n ** BigInt(Math.max(exponent, 0))
  const divisor = 10n ** BigInt(Math.max(-exponent, 0))
  return { whole: scaled / divisor, exact: scaled % divisor === 0n }
}

/** The number times a factor, rounded away from zero where it is not whole. */
export function scaleDecimalUp(decimal: Decimal, factor: bigint): bigint {
  const { whole, exact } = scaleDecimal(decimal, factor)
  if (exact) return whole
  return decimal.coefficient < 0n ? whole - 1n : whole + 1n
}

/** A whole number as English writes it: `1,048,576`. `toLocaleString` takes 10 ms when it is first used. */
export const withCommas = (whole: number): string => String(whole).replace(/\B(?=(?:\d{3})+$)/g, ',')
