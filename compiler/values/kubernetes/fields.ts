import { API_FIELDS } from './api-fields.ts'

/** A value of a JSON document. */
export type FieldValue = string | number | boolean | null | readonly FieldValue[] | FieldMap

export interface FieldMap {
  readonly [key: string]: FieldValue
}

/** The type of a field of the Kubernetes API. For an object, `name` is the name of its type, such as `PodSpec`. */
export type FieldType =
  | { readonly kind: 'scalar'; readonly name: string; readonly words?: readonly string[] }
  | { readonly kind: 'object'; readonly name: string }
  /**
   * `key` is the field by which a strategic merge pairs the items of two lists. `*` means that the merge unites two
   * lists of scalars.
   */
  | { readonly kind: 'list'; readonly items: FieldType; readonly key?: string }
  | { readonly kind: 'map'; readonly values: FieldType }

export interface Field {
  readonly type: FieldType
  readonly isRequired: boolean
}

/** Returns the fields of a type of the Kubernetes API; undefined if the table does not contain the type. */
export function fieldsOf(name: string): ReadonlyMap<string, Field> | undefined {
  const known = parsed.get(name)
  if (known) return known
  const line = linesByName().get(name)
  if (line === undefined) return undefined
  const fields = new Map<string, Field>()
  for (const field of line.split(' ').slice(1)) {
    const [key = '', text = ''] = field.split(/:(.*)/)
    fields.set(key.replace('!', ''), { type: parseType(text), isRequired: key.endsWith('!') })
  }
  parsed.set(name, fields)
  return fields
}

const parsed = new Map<string, ReadonlyMap<string, Field>>()
let lines: ReadonlyMap<string, string> | undefined

/**
 * Returns the lines of the table by the name of the type. Splits the table at the first use, because most files do not
 * need it.
 */
function linesByName(): ReadonlyMap<string, string> {
  lines ??= new Map(API_FIELDS.split('\n').map(line => [line.slice(0, line.indexOf(' ')), line]))
  return lines
}

function parseType(text: string): FieldType {
  const list = /^\[(.*)\]([\w*]*)$/.exec(text)
  if (list) return { kind: 'list', items: parseType(list[1]!), ...(list[2] && { key: list[2] }) }
  if (text.startsWith('{')) return { kind: 'map', values: parseType(text.slice(1, -1)) }
  if (text.startsWith('"')) return { kind: 'scalar', name: 'string', words: text.slice(1, -1).split('"|"') }
  return { kind: /^[A-Z]/.test(text) ? 'object' : 'scalar', name: text }
}
