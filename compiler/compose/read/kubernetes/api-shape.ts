import {
  anyOf,
  list,
  record,
  type Shape,
  strictFlag,
  strictInteger,
  strictNumber,
  text,
  word,
} from '../../../schema/shape.ts'
import { type FieldType, fieldsOf } from '../../../values/kubernetes/fields.ts'

/**
 * Returns the shape of a type of the Kubernetes API. With `part`, the shape is for fields to be merged into an object.
 * Required fields may then be missing, with two exceptions: the key fields by which list items are paired, and all
 * required fields of items that are not paired.
 */
export function apiShape(name: string, part: 'whole' | 'part'): Shape {
  const id = `${part} ${name}`
  const known = shapes.get(id)
  if (known) return known
  const fields = [...(fieldsOf(name) ?? [])]
  const shape: Shape = {
    map: {
      keys: Object.fromEntries(fields.map(([key, { type }]) => [key, shapeOfField(type, part)])),
      required: part === 'part' ? [] : fields.flatMap(([key, { isRequired }]) => (isRequired ? [key] : [])),
      extensions: false,
      unknown: 'error',
    },
  }
  shapes.set(id, shape)
  return shape
}

const shapes = new Map<string, Shape>()

function shapeOfField(type: FieldType, part: 'whole' | 'part'): Shape {
  switch (type.kind) {
    case 'object':
      return apiShape(type.name, part)
    case 'map':
      return record(shapeOfField(type.values, part))
    case 'list': {
      if (part === 'whole' || type.key === undefined || type.items.kind !== 'object')
        return list(shapeOfField(type.items, 'whole'))
      const { map } = apiShape(type.items.name, 'part')
      return list({ map: { ...map!, required: [type.key] } })
    }
    case 'scalar':
      return type.words ? word(type.words) : (SCALARS[type.name] ?? { any: true })
  }
}

const INT32 = { minimum: -(2 ** 31), maximum: 2 ** 31 - 1 }

const SCALARS: Readonly<Record<string, Shape>> = {
  string: text(),
  boolean: strictFlag(),
  int32: strictInteger(INT32),
  // A larger number would not be written as it is.
  int64: strictInteger({ minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER }),
  number: strictNumber(),
  quantity: anyOf('string', 'number'),
  intOrString: { scalar: { types: ['integer', 'string'], ...INT32 } },
}
