import type { ScalarType } from './tree.ts'

export interface TypedScalar {
  readonly type: ScalarType
  readonly value: string | number | bigint | boolean | null
}

const NULLS = new Set(['', '~', 'null', 'Null', 'NULL'])
const BOOLEANS = new Map([
  ['true', true],
  ['True', true],
  ['TRUE', true],
  ['false', false],
  ['False', false],
  ['FALSE', false],
])
const SPECIAL_FLOATS = new Map([
  // Only this notation of zero keeps its sign: `-00` is the integer 0.
  ['-0', -0],
  ['.nan', Number.NaN],
  ['.NaN', Number.NaN],
  ['.NAN', Number.NaN],
  ...['.inf', '.Inf', '.INF', '+.inf', '+.Inf', '+.INF'].map(text => [text, Number.POSITIVE_INFINITY] as const),
  ...['-.inf', '-.Inf', '-.INF'].map(text => [text, Number.NEGATIVE_INFINITY] as const),
])

const DECIMAL = /^[-+]?(?:0|[1-9][0-9]*)$/
const OCTAL = /^([-+]?)0[oO]?([0-7]+)$/
const HEXADECIMAL = /^([-+]?)0[xX]([0-9a-fA-F]+)$/
const BINARY = /^([-+]?)0[bB]([01]+)$/
const FLOAT = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/
const DATE =
  /^\d{4}-\d{1,2}-\d{1,2}(?:(?:[Tt]|[ \t]+)\d{1,2}:\d{1,2}:\d{1,2}(?:\.\d*)?[ \t]*(?:Z|[-+]\d{1,2}(?::?\d{2})?)?)?$/

/**
 * Determines the type of a plain scalar as the Compose reference loader does, which follows neither YAML 1.1 nor 1.2:
 * `yes` is a string, `017` is octal, `1_000` is a number, `22:22` is a string. Numbers keep their exact value: integers
 * outside the safe range become bigint.
 */
export function typePlainScalar(text: string): TypedScalar {
  if (NULLS.has(text)) return { type: 'null', value: null }
  const first = text.charCodeAt(0)
  const mayBeNumber = (first >= 0x30 && first <= 0x39) || first === 0x2b || first === 0x2d || first === 0x2e
  if (!mayBeNumber) {
    const flag = BOOLEANS.get(text)
    return flag === undefined ? { type: 'string', value: text } : { type: 'bool', value: flag }
  }
  const special = SPECIAL_FLOATS.get(text)
  if (special !== undefined) return { type: 'float', value: special }
  if (DATE.test(text)) return { type: 'date', value: text }
  const plain = text.includes('_') ? text.replaceAll('_', '') : text
  const integer = parseInteger(plain)
  if (integer !== undefined) return integer
  const number = FLOAT.test(plain) ? Number(plain) : undefined
  // A number that is too large for a float (`1e999`) is text.
  return number !== undefined && Number.isFinite(number)
    ? { type: 'float', value: number }
    : { type: 'string', value: text }
}

/** The types that a value with a YAML tag may have. */
const TYPES_OF_TAGS: Readonly<Record<string, readonly ScalarType[]>> = {
  '!!int': ['int'],
  '!!float': ['int', 'float'],
  '!!bool': ['bool'],
  '!!null': ['null'],
  '!!timestamp': ['date'],
}

/**
 * Determines the type of a scalar with a YAML tag (`!!int`). Returns `wrong` if the text does not have the tag's type.
 * Returns undefined for an unknown tag; a scalar with such a tag is a string.
 */
export function typeTaggedScalar(text: string, tag: string): TypedScalar | 'wrong' | undefined {
  if (tag === '!!str') return { type: 'string', value: text }
  if (tag === '!!binary') return { type: 'string', value: Buffer.from(text, 'base64').toString() }
  const types = TYPES_OF_TAGS[tag]
  if (!types) return undefined
  const typed = typePlainScalar(text)
  return types.includes(typed.type) ? typed : 'wrong'
}

/**
 * Parses an integer in the notations of the reference loader. Integers of more than 64 bits become floats, as in the
 * reference loader. Returns undefined for other text.
 */
function parseInteger(text: string): TypedScalar | undefined {
  if (DECIMAL.test(text)) return integer(text.startsWith('-'), text.replace(/^[-+]/, ''))
  for (const [pattern, prefix] of [
    [OCTAL, '0o'],
    [HEXADECIMAL, '0x'],
    [BINARY, '0b'],
  ] as const) {
    const match = pattern.exec(text)
    if (match) return integer(match[1] === '-', prefix + match[2])
  }
  return undefined
}

function integer(negative: boolean, digits: string): TypedScalar | undefined {
  if (digits.length < 16) return { type: 'int', value: negative ? -Number(digits) : Number(digits) }
  const value = negative ? -BigInt(digits) : BigInt(digits)
  if (value < -(2n ** 63n) || value >= 2n ** 64n) return undefined
  const small = value >= BigInt(Number.MIN_SAFE_INTEGER) && value <= BigInt(Number.MAX_SAFE_INTEGER)
  return { type: 'int', value: small ? Number(value) : value }
}
