import type { Reporter } from '../../../diagnostics/reporter.ts'
import { formatPath, type ModelPath } from '../../../schema/model-path.ts'
import { isRow, shapeOf } from '../../../schema/row.ts'
import type { Loss, MapForm, Row, Shape } from '../../../schema/shape.ts'
import type { Entry, MapTree, Tree } from '../../../text/tree.ts'
import { composeShape } from '../../keys/compose.ts'
import { lossKinds } from '../../keys/losses.ts'

/**
 * Rows and shapes of keys and items that have a `loss`, or that have members with a `loss`. The walk skips all others.
 */
const fieldsWithLoss = new Set<Row | Shape>()
collectLosses(composeShape)

/**
 * Reports keys of the canonical model that have no meaning in a cluster, that are only approximated, or that are
 * refused. The planner reports losses that depend on the plan.
 */
export function reportUnsupportedKeys(tree: MapTree, reporter: Reporter): void {
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
  for (const [key, entry] of tree.entries) {
    const field = Object.hasOwn(form.keys, key) ? form.keys[key] : form.others?.row
    if (!field || !fieldsWithLoss.has(field)) continue
    const at = [...path, key]
    // Reports one diagnostic for a key together with its members.
    if (isRow(field) && field.loss) reportLoss(field.loss, entry, at, around, reporter)
    else walk(entry.value, shapeOf(field), at, around, reporter)
  }
}

function reportLoss(
  loss: Loss,
  { key: span, value }: Entry,
  path: ModelPath,
  owners: readonly MapTree[],
  reporter: Reporter,
): void {
  const key = String(path.at(-1))
  // A key without a value has no effect.
  if ((value.kind === 'scalar' && value.type === 'null') || loss.harmless?.(value, owners, key)) return
  const kinds = lossKinds.get(loss)
  const kind = loss.minor?.(value, owners, key) ? kinds?.minor : kinds?.kind
  if (kind) reporter.report(kind, span, { name: nameOf(path), loss })
}

/** Returns the path of a key for a message. The path omits the service, because the span already shows it. */
const nameOf = (path: ModelPath) => formatPath(path[0] === 'services' ? path.slice(2) : path)

/** Collects the keys and items with a loss in a shape. Returns true if there are any. */
function collectLosses(shape: Shape): boolean {
  let any = shape.list ? collectLosses(shape.list.items) : false
  // A shape may be the value of a key with a loss and of a key without one, so its members are marked in either case.
  for (const field of shape.map ? fieldsOf(shape.map) : [])
    if (collectLosses(shapeOf(field)) || (isRow(field) && field.loss)) {
      fieldsWithLoss.add(field)
      any = true
    }
  return any
}

function fieldsOf(map: MapForm): (Row | Shape)[] {
  return [...Object.values(map.keys), ...(map.others ? [map.others.row] : [])]
}
