import { isRow, shapeOf } from '../../schema/row.ts'
import type { MapForm, Row, Shape } from '../../schema/shape.ts'
import { composeShape } from './compose.ts'

/**
 * The row of a key by its path from the top of the file: `['services', 'web', 'ports', '0', 'target']`. Any name does for what the user
 * names (`*`), and `[]` for the index of a list; a list is also looked through when its index is left out. A key without a row
 * of its own has its parent's, and so has one inside a key that is lost as a whole. Undefined for keys that Compose and the dialect do not know; `x-*` too.
 */
export function rowOf(path: readonly string[]): Row | undefined {
  return find(path)?.row
}

/** What may stand at a path, as `rowOf` takes it. */
export function shapeAt(path: readonly string[]): Shape | undefined {
  return find(path)?.shape
}

function find(path: readonly string[]): { readonly row: Row | undefined; readonly shape: Shape } | undefined {
  let shape = composeShape
  let row: Row | undefined
  for (const step of path) {
    const field = isIndex(step) && shape.list ? shape.list.items : fieldOf(shape, step)
    if (field === undefined) return undefined
    if (isRow(field) && !row?.loss) row = field
    shape = shapeOf(field)
  }
  return { row, shape }
}

const isIndex = (step: string) => /^(\d+|\[\d*\])$/.test(step)

function fieldOf(shape: Shape, key: string): Row | Shape | undefined {
  const own = shape.map && fieldOfMap(shape.map, key)
  if (own !== undefined) return own
  // A list's own keys, without its index: `services.web.ports.target`.
  return shape.list && !isIndex(key) ? fieldOf(shape.list.items, key) : undefined
}

function fieldOfMap(map: MapForm, key: string): Row | Shape | undefined {
  if (Object.hasOwn(map.keys, key)) return map.keys[key]
  return map.others?.names.test(key) || key === '*' ? map.others?.row : undefined
}

/** A key of the table with its path; `*` stands for what the user names and `[]` for an item of a list. */
export interface TableRow {
  readonly path: readonly string[]
  readonly row: Row
}

/** Every row of the table, parents before their members; not those inside a key that is lost as a whole. Shared rows come once for each place. */
export function* tableRows(shape: Shape = composeShape, path: readonly string[] = []): Generator<TableRow> {
  for (const [key, field] of shape.map ? fields(shape.map) : []) {
    const at = [...path, key]
    if (isRow(field)) yield { path: at, row: field }
    if (!isRow(field) || !field.loss) yield* tableRows(shapeOf(field), at)
  }
  if (shape.list) yield* tableRows(shape.list.items, [...path, '[]'])
}

function* fields(map: MapForm): Generator<readonly [string, Row | Shape]> {
  yield* Object.entries(map.keys)
  if (map.others) yield ['*', map.others.row]
}
