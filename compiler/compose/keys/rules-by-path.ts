import type { LoadRules } from '../../schema/load-rules.ts'
import { shapeOf } from '../../schema/row.ts'
import type { Row, Shape } from '../../schema/shape.ts'
import { ITEM, MEMBER, PathRules } from '../../text/path.ts'
import { composeShape } from './compose.ts'

type Path = readonly string[]

/** True for paths outside `pre_start` hooks, which inherit the processed values of their service. */
export const isOutsideHooks = (path: Path): boolean => path[2] !== 'pre_start'

/** Collects the rules of one kind from the table, by path. A pass of the loader applies them to the model. */
export function rulesOf<Kind extends keyof LoadRules>(
  kind: Kind,
  applies: (path: Path) => boolean = () => true,
): PathRules<NonNullable<LoadRules[Kind]>> {
  const rules: [string, NonNullable<LoadRules[Kind]>][] = []
  addRules(kind, composeShape, [], rules)
  return new PathRules(rules.filter(([path]) => applies(path.split('.'))))
}

/** Returns the rule of a row, or of its shape if the row has none. */
export const ruleOf = <Kind extends keyof LoadRules>(field: Row | Shape, kind: Kind): LoadRules[Kind] =>
  field[kind] ?? shapeOf(field)[kind]

function addRules<Kind extends keyof LoadRules>(
  kind: Kind,
  field: Row | Shape,
  path: Path,
  rules: [string, NonNullable<LoadRules[Kind]>][],
): void {
  const rule = ruleOf(field, kind)
  if (rule != null) rules.push([path.join('.'), rule])
  const { map, list } = shapeOf(field)
  if (map) for (const key of Object.keys(map.keys)) addRules(kind, map.keys[key]!, [...path, key], rules)
  if (map?.others) addRules(kind, map.others.row, [...path, MEMBER], rules)
  if (list) addRules(kind, list.items, [...path, ITEM], rules)
}
