import type { LoadRules } from '../../schema/load-rules.ts'
import { isRow } from '../../schema/row.ts'
import type { Row, Shape } from '../../schema/shape.ts'

/** Returns the shape of a key, with the loader rules of its row added. */
export function shapeWithRules(field: Row | Shape): Shape {
  if (!isRow(field)) return field
  const { shape, cast, long, merge, identity, path, defaults, print, always } = field
  const rules: LoadRules = { cast, long, merge, identity, path, defaults, print, always }
  return { ...shape, ...Object.fromEntries(Object.entries(rules).filter(([, rule]) => rule !== undefined)) }
}
