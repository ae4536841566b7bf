/** An exact decimal number: `coefficient × 10^exponent`. */
export interface Decimal {
  readonly coefficient: bigint
  readonly exponent: number
}

const DECIMAL = /^([-+]?)(?=\.?[0-9])([0-9]*)(?:\.([0-9]*))?(?:[eE]([-+]?[0-9]{1,3}))?$/
/** Maximum length of a number's text. Longer numbers are not realistic amounts, and would make arithmetic slow. */
const LONGEST = 100

/** Parses a decimal number (`1.5`, `.5`, `5.`, `1e3`) without rounding; returns undefined for other texts. */
export function parseDecimal(text: string): Decimal | undefined {
  const match = text.length <= LONGEST ? DECIMAL.exec(text) : null
  if (!match) return undefined
  const [, sign, whole = '', fraction = '', exponent = '0'] = match
  const digits = BigInt(whole + fraction)
  return { coefficient: sign === '-' ? -digits : digits, exponent: Number(exponent) - fraction.length }
}

/**
 * Multiplies a number by a factor. Returns the result as an integer `whole`, rounded towards zero; `exact` is true if
 * nothing was rounded.
 */
export function scaleDecimal({ coefficient, exponent }: Decimal, factor: bigint): { whole: bigint; exact: boolean } {
  const scaled = coefficient * factor * 10n ** BigInt(Math.max(exponent, 0))
  const divisor = 10n ** BigInt(Math.max(-exponent, 0))
  return { whole: scaled / divisor, exact: scaled % divisor === 0n }
}

/** Multiplies a number by a factor and rounds the result away from zero to an integer. */
export function scaleDecimalUp(decimal: Decimal, factor: bigint): bigint {
  const { whole, exact } = scaleDecimal(decimal, factor)
  if (exact) return whole
  return decimal.coefficient < 0n ? whole - 1n : whole + 1n
}

/** Formats an integer with commas, such as `1,048,576`. Does not use `toLocaleString`, whose first call takes 10 ms. */
export const withCommas = (whole: number): string => String(whole).replace(/\B(?=(?:\d{3})+$)/g, ',')
