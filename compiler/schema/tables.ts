import { joinWords } from './describe.ts'
import { isRow, shapeOf } from './row.ts'
import type { Row, ScalarForm, Shape, ValueType } from './shape.ts'

/** A key for the documentation: its path, its row, and the values that it accepts. */
export interface KeyRow {
  readonly name: string
  readonly row: Row
  readonly forms: string
}

/** Yields a key and its members, as far as they have rows. Omits the members of a key that is reported as a loss. */
export function* keyRows(name: string, field: Row | Shape): Generator<KeyRow> {
  if (isRow(field)) yield { name, row: field, forms: forms(field.shape) }
  if (!isRow(field) || !field.loss) yield* members(name, shapeOf(field))
}

function* members(name: string, { list, map }: Shape): Generator<KeyRow> {
  if (list) yield* members(`${name}[]`, list.items)
  for (const [key, field] of Object.entries(map?.keys ?? {})) yield* keyRows(`${name}.${key}`, field)
  if (map?.others) yield* keyRows(`${name}.${map.others.called}`, map.others.row)
}

/** Returns the accepted values for a table cell: allowed values, types, lists and mappings. */
function forms(shape: Shape): string {
  const all = [
    ...(shape.scalar ? scalarForms(shape.scalar) : []),
    ...(shape.list ? [listForm(shape.list.items)] : []),
    ...(shape.map ? [shape.map.others ? `mapping by ${shape.map.others.called}` : 'mapping'] : []),
  ]
  return joinWords(all, 'or')
}

function listForm(items: Shape): string {
  if (items.map || items.list) return items.scalar ? 'list of text and mappings' : 'list of mappings'
  return `list of ${items.scalar?.types.some(type => type === 'number' || type === 'integer') ? 'text and numbers' : 'text'}`
}

const typeNames: Readonly<Record<ValueType, string>> = {
  string: 'text',
  integer: 'whole number',
  number: 'number',
  boolean: 'switch',
  null: 'nothing',
}

function scalarForms({ types, words, like }: ScalarForm): string[] {
  if (words) return [...words.filter(word => word !== '').map(word => `\`${word}\``), ...(like ? [like] : [])]
  // Text and null are not listed for a boolean: the text is `"true"` or a variable, and null is a key without a value.
  const isSwitch = types[0] === 'boolean'
  return types.filter(type => type !== 'null' && !(isSwitch && type === 'string')).map(type => typeNames[type])
}

/** Formats a Markdown table. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map(cell => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}
