import { isRow, shapeOf } from '../../schema/row.ts'
import type { MapForm, Row, Shape } from '../../schema/shape.ts'
import { composeShape } from './compose.ts'

/**
 * Finds the row of a key by its path, such as `['services', 'web', 'ports', '0', 'target']`. For a name that the user
 * chooses, the path may contain any name or `*`; a list index may be `[]` or omitted. A key without a row has the row
 * of its parent. If a row on the path has a `loss`, returns that row for all keys inside. Returns undefined for unknown
 * keys and `x-*`. `top` is the table to search, by default the table of Compose files.
 */
export function rowOf(path: readonly string[], top: Shape = composeShape): Row | undefined {
  return find(path, top)?.row
}

/** Finds the shape at a path. The path has the same format as for `rowOf`. Returns undefined for unknown keys. */
export function shapeAt(path: readonly string[], top: Shape = composeShape): Shape | undefined {
  return find(path, top)?.shape
}

function find(
  path: readonly string[],
  top: Shape,
): { readonly row: Row | undefined; readonly shape: Shape } | undefined {
  let shape = top
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
  // A path may omit the index of a list: `services.web.ports.target`.
  return shape.list && !isIndex(key) ? fieldOf(shape.list.items, key) : undefined
}

function fieldOfMap(map: MapForm, key: string): Row | Shape | undefined {
  if (Object.hasOwn(map.keys, key)) return map.keys[key]
  return map.others?.names.test(key) || key === '*' ? map.others?.row : undefined
}

/**
 * A row of the table with its path. `*` stands for a name that the user chooses, `[]` for a list
 * item.
 */
export interface TableRow {
  readonly path: readonly string[]
  readonly row: Row
}

/**
 * Lists the rows of the table, each parent before its members. Leaves out rows inside a key whose row has a `loss`. A
 * row that several keys use is listed for each of them, except in jobs.
 */
export function tableRows(shape: Shape = composeShape): readonly TableRow[] {
  const rows: TableRow[] = []
  addRows(rows, shape, [])
  return rows
}

function addRows(rows: TableRow[], { map, list }: Shape, path: readonly string[]): void {
  if (map) for (const key of Object.keys(map.keys)) addField(rows, map.keys[key]!, [...path, key])
  if (map?.others) addField(rows, map.others.row, [...path, '*'])
  if (list) addRows(rows, list.items, [...path, '[]'])
}

function addField(rows: TableRow[], field: Row | Shape, path: readonly string[]): void {
  if (isRow(field)) {
    rows.push({ path, row: field })
    if (!field.loss) addRows(rows, field.shape, path)
    // The keys of a job are those of a service, except `triggers`.
  } else if (path.length === 1 || path[0] !== 'jobs') addRows(rows, field, path)
}
