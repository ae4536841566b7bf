import type { Print } from '../../schema/load-rules.ts'
import { shapeOf } from '../../schema/row.ts'
import type { MapForm, Row, ScalarForm, Shape } from '../../schema/shape.ts'
import * as print from './print.ts'
import { ruleOf } from './rules.ts'

/**
 * How `docker compose config` prints the value of a key: as its row or shape says, else what follows from the shape. The model is in its long form, so a
 * mapping goes before a list, and a list before a scalar. Text that is empty, a switch that is off and a zero are left out.
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

/** A name that the user chose is kept when it has no value and needs none. */
const memberPrinter = (row: Row | Shape): Print =>
  shapeOf(row).scalar?.types.includes('null') ? print.nullOr(printerOf(row)) : printerOf(row)

/** In a list, the empty text counts. */
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
