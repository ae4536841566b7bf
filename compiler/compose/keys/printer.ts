import type { Print } from '../../schema/load-rules.ts'
import { shapeOf } from '../../schema/row.ts'
import type { MapForm, Row, ScalarForm, Shape } from '../../schema/shape.ts'
import * as print from './print.ts'
import { ruleOf } from './rules-by-path.ts'

/**
 * Gives the function that converts a key's value to what `docker compose config` prints: the
 * `print` rule of its row or shape, else one for the shape. Of several forms the mapping is taken
 * first, then the list, since the model is in its long form. Empty text, false and zero are
 * omitted.
 */
export function printerOf(field: Row | Shape): Print {
  const own = ruleOf(field, 'print')
  if (own) return own
  const { map, list, scalar } = shapeOf(field)
  if (map) return mapPrinter(map, ruleOf(field, 'always'))
  if (list) return print.list(itemPrinter(list.items))
  return scalar ? scalarPrinter(scalar) : print.asIs
}

function mapPrinter(map: MapForm, always: Shape['always']): Print {
  const { others } = map
  if (others) return isScalar(shapeOf(others.row)) ? print.labels : print.mapOf(memberPrinter(others.row))
  const members = Object.entries(map.keys).map(([key, member]) => [key, printerOf(member)] as const)
  return print.record(Object.fromEntries(members), always)
}

/** A name that the user chooses is kept without a value if null is allowed. */
const memberPrinter = (row: Row | Shape): Print =>
  shapeOf(row).scalar?.types.includes('null') ? print.nullOr(printerOf(row)) : printerOf(row)

/** Empty text in a list is kept. */
const itemPrinter = (items: Shape): Print => (isScalar(items) && !items.print ? print.item : printerOf(items))

const isScalar = ({ map, list }: Shape): boolean => !map && !list

function scalarPrinter({ types: [type] }: ScalarForm): Print {
  switch (type) {
    case 'boolean':
      return print.flag
    case 'integer':
      return print.integer
    default:
      return print.text
  }
}
