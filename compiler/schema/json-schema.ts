import { isRow, shapeOf } from './row.ts'
import type { ListForm, MapForm, Row, ScalarForm, Shape } from './shape.ts'

/** A JSON Schema, draft 2020-12. */
export type JsonSchema = { readonly [key: string]: unknown }

/** The identity of a schema. */
export interface SchemaTitle {
  /** Address of the schema, which other schemas and editors refer to. */
  readonly $id: string
  readonly title: string
  readonly description: string
}

/** Formats the note of a row, which follows the description of the key. In a manifest, the note is the default. */
export type Note = (note: string) => string

/**
 * Creates the JSON Schema of a shape. The schema accepts every file that the compiler accepts, and refuses files with
 * structural errors. It applies to a file before substitution, so it allows a variable wherever text, a number or a
 * boolean is allowed. Mappings that are used in several places become `$defs`.
 */
export function toJsonSchema(shape: Shape, title: SchemaTitle, note: Note = text => `; ${text}`): JsonSchema {
  const writer = new SchemaWriter(shape, note)
  const body = writer.write(shape)
  const definitions = writer.definitions()
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    ...title,
    ...body,
    ...(Object.keys(definitions).length > 0 && { $defs: definitions }),
  }
}

class SchemaWriter {
  readonly #shared: ReadonlyMap<Shape, string>
  readonly #written = new Map<string, JsonSchema>()

  readonly #note: Note

  constructor(top: Shape, note: Note) {
    this.#note = note
    this.#shared = sharedShapes(top)
  }

  definitions(): Readonly<Record<string, JsonSchema>> {
    return Object.fromEntries([...this.#written].sort(([a], [b]) => (a < b ? -1 : 1)))
  }

  /** Returns the schema of a key, with its description. */
  field(field: Row | Shape): JsonSchema {
    const body = this.reference(shapeOf(field))
    return isRow(field) ? { description: this.describe(field), ...body } : body
  }

  describe({ becomes, note }: Row): string {
    const text = becomes === '' ? (note ?? '') : `${becomes}${note ? this.#note(note) : ''}`
    return text === '' ? text : text[0]!.toUpperCase() + text.slice(1)
  }

  reference(shape: Shape): JsonSchema {
    const name = this.#shared.get(shape)
    if (name === undefined) return this.write(shape)
    if (!this.#written.has(name)) {
      this.#written.set(name, {})
      this.#written.set(name, this.write(shape))
    }
    return { $ref: `#/$defs/${name}` }
  }

  write(shape: Shape): JsonSchema {
    if (shape.any) return {}
    const forms = [
      ...(shape.scalar ? scalarSchemas(shape.scalar) : []),
      ...(shape.list ? [this.list(shape.list)] : []),
      ...(shape.map ? this.maps(shape.map) : []),
    ]
    return forms.length === 1 ? forms[0]! : { anyOf: forms }
  }

  list({ items, unique }: ListForm): JsonSchema {
    return { type: 'array', items: this.reference(items), ...(unique && { uniqueItems: true }) }
  }

  maps(form: MapForm): readonly JsonSchema[] {
    return (form.notations ?? [form]).map(one => this.map(one))
  }

  map({ keys, required, others, extensions, unknown }: MapForm): JsonSchema {
    const properties = Object.fromEntries(Object.entries(keys).map(([key, field]) => [key, this.field(field)]))
    const takesAny = others !== undefined && (others.names.source === '.' || others.names.test(''))
    const patterns = {
      ...(extensions && { [patternBeside('^x-', keys)]: {} }),
      ...(others && !takesAny && { [patternBeside(others.names.source, keys)]: this.field(others.row) }),
    }
    return {
      type: 'object',
      ...(Object.keys(properties).length > 0 && { properties }),
      ...(Object.keys(patterns).length > 0 && { patternProperties: patterns }),
      ...(takesAny && !others.names.test('') && others.otherwise === 'error' && { propertyNames: { minLength: 1 } }),
      additionalProperties: takesAny
        ? this.field(others.row)
        : unknown === 'warning' || others?.otherwise === 'ignored',
      ...(required.length > 0 && { required }),
    }
  }
}

/**
 * Returns a pattern that does not match the listed keys, because JSON Schema applies `patternProperties` to listed keys
 * as well.
 */
function patternBeside(pattern: string, keys: MapForm['keys']): string {
  const matching = Object.keys(keys).filter(key => new RegExp(pattern, 'u').test(key))
  return matching.length === 0 ? pattern : `^(?!(?:${matching.join('|')})$)${pattern.replace(/^\^/, '')}`
}

/** Text with a variable, which may become a value of any type. */
const VARIABLE = { type: 'string', pattern: '\\$' }

function scalarSchemas({ types, minimum, maximum, words, pattern, digitsOnly }: ScalarForm): readonly JsonSchema[] {
  const schemas: JsonSchema[] = []
  const integer = types.includes('integer') || (types.includes('number') && digitsOnly) ? 'integer' : undefined
  const numeric = types.includes('number') && !digitsOnly ? 'number' : integer
  if (numeric)
    schemas.push({
      type: numeric,
      ...(minimum !== undefined && { minimum }),
      ...(maximum !== undefined && { maximum }),
    })
  if (types.includes('boolean')) schemas.push({ type: 'boolean' })
  if (types.includes('null')) schemas.push({ type: 'null' })
  if (!types.includes('string')) return [...schemas, ...(types.every(type => type === 'null') ? [] : [VARIABLE])]
  if (!words && !pattern) return [...schemas, { type: 'string' }]
  return [
    ...schemas,
    ...(words ? [{ enum: words }] : []),
    ...(pattern ? [{ type: 'string', pattern: pattern.source }] : []),
    ...(pattern?.test('${A}') ? [] : [VARIABLE]),
  ]
}

/** Returns the mappings that are used in several places, each named after the first key that has it. */
function sharedShapes(top: Shape): ReadonlyMap<Shape, string> {
  const places = new Map<Shape, { readonly key: string; count: number }>()
  const visit = (shape: Shape, key: string): void => {
    const known = places.get(shape)
    if (known) {
      known.count++
      return
    }
    places.set(shape, { key, count: 1 })
    if (shape.list) visit(shape.list.items, key)
    for (const form of shape.map ? [shape.map, ...(shape.map.notations ?? [])] : []) {
      for (const [name, field] of Object.entries(form.keys)) visit(shapeOf(field), name)
      if (form.others) visit(shapeOf(form.others.row), key)
    }
  }
  visit(top, 'file')
  const names = new Map<Shape, string>()
  const taken = new Set<string>()
  for (const [shape, { key, count }] of places) {
    if (count < 2 || shape === top || !hasKeys(shape)) continue
    let name = key
    for (let n = 2; taken.has(name); n++) name = `${key}${n}`
    taken.add(name)
    names.set(shape, name)
  }
  return names
}

const hasKeys = ({ map, list }: Shape): boolean =>
  Object.keys(map?.keys ?? {}).length > 0 || (list !== undefined && hasKeys(list.items))
