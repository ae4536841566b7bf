import type { LoadRules } from '../../schema/load-rules.ts'
import { shapeOf } from '../../schema/row.ts'
import type { Row, Shape } from '../../schema/shape.ts'
import { ITEM, MEMBER, PathRules } from '../../text/path.ts'
import { composeShape } from './compose.ts'

type Path = readonly string[]

/**
 * True for paths outside `pre_start` hooks. Rules with this filter are not applied inside hooks, because hooks inherit
 * values that were already processed in their service.
 */
export const isOutsideHooks = (path: Path): boolean => path[2] !== 'pre_start'

/**
 * Every field of the table with the pattern of its path. The table is walked only once; `rulesOf` selects the fields
 * that have a rule of its kind.
 */
const fields: { readonly path: string; readonly field: Row | Shape }[] = []
addFields('', composeShape)

/**
 * Collects the rules of one kind from the table, by path, for the paths that `applies` accepts. A pass of the loader
 * applies the rules to the model.
 */
export function rulesOf<Kind extends keyof LoadRules>(
  kind: Kind,
  applies: (path: Path) => boolean = () => true,
): PathRules<NonNullable<LoadRules[Kind]>> {
  const rules: [string, NonNullable<LoadRules[Kind]>][] = []
  for (const { path, field } of fields) {
    const rule = ruleOf(field, kind)
    if (rule != null && applies(path.split('.'))) rules.push([path, rule])
  }
  return new PathRules(rules)
}

/** Returns the rule of a row, or of its shape if the row has none. */
export const ruleOf = <Kind extends keyof LoadRules>(field: Row | Shape, kind: Kind): LoadRules[Kind] =>
  field[kind] ?? shapeOf(field)[kind]

function addFields(path: string, field: Row | Shape): void {
  fields.push({ path, field })
  const before = path === '' ? '' : `${path}.`
  const { map, list } = shapeOf(field)
  if (map) for (const key of Object.keys(map.keys)) addFields(before + key, map.keys[key]!)
  if (map?.others) addFields(before + MEMBER, map.others.row)
  if (list) addFields(before + ITEM, list.items)
}
