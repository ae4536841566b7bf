import type { Print } from '../../schema/load-rules.ts'
import { shapeOf } from '../../schema/row.ts'
import type { MapForm, Row, ScalarForm, Shape } from '../../schema/shape.ts'
import * as print from './print.ts'
import { ruleOf } from './rules-by-path.ts'

/**
 * Returns the function that converts a key's value to the output of `docker compose config`: the `print` rule of its
 * row or shape if it has one, otherwise a printer for the shape. A shape with several forms is printed as a mapping, or
 * else as a list, because the model is in its long form. Empty text, false and zero are omitted.
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

/**
 * Returns the printer for the values of names that the user chooses. If null is allowed, it is printed as null, so that
 * the name stays in the output without a value.
 */
const memberPrinter = (row: Row | Shape): Print =>
  shapeOf(row).scalar?.types.includes('null') ? print.nullOr(printerOf(row)) : printerOf(row)

/** Returns the printer for the items of a list. Empty text is kept, unless the items have their own `print` rule. */
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
