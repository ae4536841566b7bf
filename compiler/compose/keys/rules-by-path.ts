import type { LoadRules } from '../../schema/load-rules.ts'
import { shapeOf } from '../../schema/row.ts'
import type { Row, Shape } from '../../schema/shape.ts'
import { PathRules } from '../../text/path.ts'
import { composeShape } from './compose.ts'

type Path = readonly string[]

/** True for paths outside `jobs`. */
export const isOutsideJobs = ([section]: Path): boolean => section !== 'jobs'

/**
 * True for paths outside `jobs` and `pre_start` hooks, which inherit processed values of their
 * service.
 */
export const isOutsideJobsAndHooks = (path: Path): boolean => isOutsideJobs(path) && path[2] !== 'pre_start'

/** Collects the rules of one kind from the table, by path. A pass of the loader applies them. */
export function rulesOf<Kind extends keyof LoadRules>(
  kind: Kind,
  applies: (path: Path) => boolean = () => true,
): PathRules<NonNullable<LoadRules[Kind]>> {
  return new PathRules([...placed(kind, composeShape, [])].filter(([path]) => applies(path.split('.'))))
}

/** The rule of a row, else that of its shape. */
export const ruleOf = <Kind extends keyof LoadRules>(field: Row | Shape, kind: Kind): LoadRules[Kind] =>
  field[kind] ?? shapeOf(field)[kind]

function* placed<Kind extends keyof LoadRules>(
  kind: Kind,
  field: Row | Shape,
  path: Path,
): Iterable<readonly [string, NonNullable<LoadRules[Kind]>]> {
  const rule = ruleOf(field, kind)
  if (rule != null) yield [path.join('.'), rule]
  const { map, list } = shapeOf(field)
  for (const [key, member] of Object.entries(map?.keys ?? {})) yield* placed(kind, member, [...path, key])
  if (map?.others) yield* placed(kind, map.others.row, [...path, '*'])
  if (list) yield* placed(kind, list.items, [...path, '*'])
}
