import type { Reporter } from '../../diagnostics/reporter.ts'
import { formatPath, type ModelPath } from '../../schema/model-path.ts'
import { isRow, shapeOf } from '../../schema/row.ts'
import type { Loss, MapForm, Row, Shape } from '../../schema/shape.ts'
import type { Span } from '../../text/source.ts'
import type { MapTree, Tree } from '../../text/tree.ts'
import { composeShape } from '../keys/compose.ts'
import { lossKinds } from '../keys/losses.ts'

/** The fields that have something to report, or have members that do: the walk skips all else. */
const losing = new Set<Row | Shape>()
markLosing(composeShape)

/**
 * Reports the keys of the loaded model that come to nothing in a cluster, are always approximated, or are refused. `tree` is in canonical
 * form and holds the enabled services only. What depends on the plan (kinds, ports, mounts, placement and the like) the planner reports.
 */
export function reportFates(tree: MapTree, reporter: Reporter): void {
  if (composeShape.map) walkMap(tree, composeShape.map, [], [], reporter)
}

function walk(tree: Tree, shape: Shape, path: ModelPath, owners: readonly MapTree[], reporter: Reporter): void {
  if (tree.kind === 'map' && shape.map) walkMap(tree, shape.map, path, owners, reporter)
  else if (tree.kind === 'seq' && shape.list) {
    const { items } = shape.list
    for (const [index, item] of tree.items.entries()) walk(item, items, [...path, index], owners, reporter)
  }
}

function walkMap(tree: MapTree, form: MapForm, path: ModelPath, owners: readonly MapTree[], reporter: Reporter): void {
  const around = [tree, ...owners]
  for (const [key, { key: span, value }] of tree.entries) {
    const field = Object.hasOwn(form.keys, key) ? form.keys[key] : form.others?.row
    if (!field || !losing.has(field)) continue
    const at = [...path, key]
    // One diagnostic for a key and all that is in it.
    if (isRow(field) && field.loss) reportLoss(field.loss, value, span, at, around, reporter)
    else walk(value, shapeOf(field), at, around, reporter)
  }
}

function reportLoss(
  loss: Loss,
  value: Tree,
  span: Span,
  path: ModelPath,
  owners: readonly MapTree[],
  reporter: Reporter,
): void {
  const key = String(path.at(-1))
  // A key without a value asks for nothing.
  if ((value.kind === 'scalar' && value.type === 'null') || loss.harmless?.(value, owners, key)) return
  const kinds = lossKinds.get(loss)
  const kind = loss.minor?.(value, owners, key) ? kinds?.minor : kinds?.kind
  if (kind) reporter.report(kind, span, { name: nameOf(path), loss })
}

/** A key of a service without the service, whose lines the span shows; any other with its whole path. */
const nameOf = (path: ModelPath) => formatPath(path[0] === 'services' ? path.slice(2) : path)

/** Marks the fields of a shape that lead to a loss; true when there is one. */
function markLosing(shape: Shape): boolean {
  let any = shape.list ? markLosing(shape.list.items) : false
  // Both sides must run: a key with a loss may also stand, without it, elsewhere.
  for (const field of shape.map ? fieldsOf(shape.map) : [])
    if (markLosing(shapeOf(field)) || (isRow(field) && field.loss)) {
      losing.add(field)
      any = true
    }
  return any
}

function fieldsOf(map: MapForm): (Row | Shape)[] {
  return [...Object.values(map.keys), ...(map.others ? [map.others.row] : [])]
}
