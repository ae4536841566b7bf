/** A validator that ajv generated from a JSON schema; its errors describe the last value that did not match. */
export interface Validator<T> {
  (value: unknown): value is T
  readonly errors?: readonly SchemaError[] | null
}

/** A validation error of ajv: https://ajv.js.org/api.html#validation-errors */
interface SchemaError {
  /** JSON Pointer (RFC 6901) to the invalid value. */
  readonly instancePath: string
  readonly keyword: string
  readonly params: Readonly<Record<string, unknown>>
}

/** A value of the schema's type, or a clause that describes the error: `` `auths.web` must be an object ``. */
export type JsonResult<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problem: string }

/**
 * Parses a text from outside (a response, a file, the output of a program) as JSON and checks it against a schema. The
 * problem names paths and types, and never quotes a value, which may be a token.
 */
export function parseJson<T>(text: string, validate: Validator<T>): JsonResult<T> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    return { ok: false, problem: syntaxProblem(text, error) }
  }
  return checkJson(value, validate)
}

/** Checks an already parsed value, such as a part of a kubeconfig, against a schema. */
export function checkJson<T>(value: unknown, validate: Validator<T>): JsonResult<T> {
  return validate(value) ? { ok: true, value } : { ok: false, problem: problemOf(validate.errors![0]!) }
}

/**
 * Describes a syntax error. Uses only the position in the message of JSON.parse, because the message quotes the text.
 */
function syntaxProblem(text: string, error: unknown): string {
  const start = text.trimStart()
  if (start === '') return 'it is empty'
  if (start.startsWith('<')) return 'it is a web page'
  const [, position] = / at position (\d+)/.exec(String(error)) ?? []
  if (position === undefined) return 'it is not valid JSON'
  const before = text.slice(0, Number(position)).split('\n')
  return `it is not valid JSON (line ${before.length}, column ${before.at(-1)!.length + 1})`
}

function problemOf({ instancePath, keyword, params }: SchemaError): string {
  const keys = instancePath.split('/').slice(1).map(unescapePointer)
  if (keyword === 'required') return `${placeOf([...keys, String(params['missingProperty'])])} is missing`
  return `${placeOf(keys)} ${ruleOf(keyword, params)}`
}

function ruleOf(keyword: string, params: SchemaError['params']): string {
  switch (keyword) {
    case 'type':
      return `must be ${choice([params['type']].flat().map(typeName))}`
    case 'const':
      return `must be \`${params['allowedValue']}\``
    case 'enum':
      return `must be ${choice((params['allowedValues'] as unknown[]).map(value => `\`${value}\``))}` // a list by its schema
    case 'minItems':
      return `must have at least ${params['limit']} items`
    case 'maxItems':
      return `must have at most ${params['limit']} items`
    default:
      return 'is not valid'
  }
}

/** Joins alternatives: `a`, `a or b`, `a, b or c`. */
const choice = (words: readonly string[]): string =>
  words.length < 2 ? words.join() : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`

const NAMES: Readonly<Record<string, string>> = {
  object: 'an object',
  array: 'an array',
  string: 'a string',
  number: 'a number',
  integer: 'an integer',
  boolean: '`true` or `false`',
  null: '`null`',
}

const typeName = (type: unknown): string => NAMES[String(type)]!

/** Formats a path in a JSON document: `items[0].name`, `auths["registry.example.com"]`. */
function placeOf(keys: readonly string[]): string {
  const steps = keys.map(key => {
    if (/^\d+$/.test(key)) return `[${key}]`
    return /^[\w-]+$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`
  })
  return keys.length === 0 ? 'it' : `\`${steps.join('').replace(/^\./, '')}\``
}

const unescapePointer = (step: string): string => step.replaceAll('~1', '/').replaceAll('~0', '~')
