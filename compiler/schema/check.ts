import type { Span } from '../text/source.ts'
import type { MapTree, ScalarTree, SeqTree, Tree } from '../text/tree.ts'
import type { Findings } from './findings.ts'
import { describe, found, quoted } from './forms.ts'
import { shapeOf } from './row.ts'
import type { ListForm, MapForm, ScalarForm, Shape } from './shape.ts'
import type { ModelPath } from './where.ts'

/**
 * Checks a value against a shape and notes every mistake. False when it must not be read. The depth of the recursion is that of the shape,
 * whatever the depth of the tree. `keySpan` is where the key of the value is written; the keys of a mapping that are in error are added to
 * `unsound`.
 */
export function check(
  tree: Tree,
  shape: Shape,
  path: ModelPath,
  keySpan: Span,
  findings: Findings,
  unsound?: Set<string>,
): boolean {
  if (shape.any) return true
  if (tree.kind === 'map' && shape.map) return checkMap(tree, shape.map, path, keySpan, findings, unsound)
  if (tree.kind === 'seq' && shape.list) return checkList(tree, shape.list, path, findings)
  if (tree.kind === 'scalar') {
    if (findings.isUnchecked(tree, shape.scalar !== undefined)) return true
    if (shape.scalar && hasType(tree, shape.scalar)) return checkScalar(tree, shape.scalar, path, findings)
    if (tree.type === 'null') {
      findings.add(findings.mistakes.nullValue, headOf(tree, path, keySpan), { path, allowed: describe(shape) }, path)
      return false
    }
  }
  findings.add(
    findings.mistakes.wrongType,
    placeOf(tree),
    { path, shape, tree, allowed: describe(shape), found: found(tree) },
    path,
    tree,
  )
  return false
}

function checkMap(
  tree: MapTree,
  declared: MapForm,
  path: ModelPath,
  keySpan: Span,
  findings: Findings,
  unsound?: Set<string>,
): boolean {
  const form = declared.choose?.(tree) ?? declared
  let sound = true
  for (const [key, entry] of tree.entries)
    if (!checkEntry(key, entry, form, path, findings)) {
      sound = false
      unsound?.add(key)
      // A key that is unknown may be any other, misspelt.
      if (!Object.hasOwn(form.keys, key)) unsound?.add('*')
    }
  const missing = form.required.filter(key => !tree.entries.has(key))
  // An unknown key is most likely the missing one, misspelt.
  if (missing.length > 0 && !hasUnknownKey(tree, form))
    for (const key of missing) {
      findings.add(findings.mistakes.missingKey, headOf(tree, path, keySpan), { path, key }, [...path, key])
      sound = false
    }
  return sound
}

function hasUnknownKey(tree: MapTree, form: MapForm): boolean {
  if (form.others || form.unknown === 'warning') return false
  for (const key of tree.entries.keys()) if (!Object.hasOwn(form.keys, key) && !isExtension(key, form)) return true
  return false
}

const isExtension = (key: string, form: MapForm) => form.extensions && key.startsWith('x-')

/** Checks a key and its value against the mapping that they stand in. False when they must not be read. */
export function checkEntry(
  key: string,
  { key: span, value }: { key: Span; value: Tree },
  form: MapForm,
  path: ModelPath,
  findings: Findings,
  unsound?: Set<string>,
): boolean {
  const field = Object.hasOwn(form.keys, key) ? form.keys[key] : undefined
  if (field) return check(value, shapeOf(field), [...path, key], span, findings)
  if (!form.others || isExtension(key, form)) return checkUnknown(key, span, value, form, path, findings)
  if (form.others.names.test(key))
    return check(value, shapeOf(form.others.row), [...path, key], span, findings, unsound)
  if (form.others.otherwise === 'ignored') return true
  findings.add(findings.mistakes.badName, span, { path, name: key }, [...path, key])
  return false
}

/** A key that the form does not have: an extension, a mistake, or something that nobody reads. */
export function checkUnknown(
  key: string,
  span: Span,
  value: Tree,
  form: MapForm,
  path: ModelPath,
  findings: Findings,
): boolean {
  if (isExtension(key, form)) return true
  const hint = findings.mayHint() ? findings.mistakes.hintForUnknown(key, value, form, path) : undefined
  if (form.unknown === 'warning') {
    findings.add(findings.mistakes.ignoredKey, span, { path, key, hint }, [...path, key])
    return true
  }
  findings.add(findings.mistakes.unknownKey(path), span, { path, key, hint }, [...path, key])
  return false
}

function checkList(tree: SeqTree, form: ListForm, path: ModelPath, findings: Findings): boolean {
  let sound = true
  for (const [index, item] of tree.items.entries())
    if (!check(item, form.items, [...path, index], item.span, findings)) sound = false
  return form.unique ? checkUnique(tree, path, findings) && sound : sound
}

/** Items of lists without repetition are scalars in every shape of the table. */
function checkUnique(tree: SeqTree, path: ModelPath, findings: Findings): boolean {
  const seen = new Map<ScalarTree['value'], ScalarTree>()
  let sound = true
  for (const [index, item] of tree.items.entries()) {
    if (item.kind !== 'scalar') continue
    const first = seen.get(item.value)
    if (first === undefined) seen.set(item.value, item)
    else {
      const related = [{ span: first.span, message: 'it is here already' }]
      findings.add(
        findings.mistakes.duplicateItem,
        item.span,
        { path, item: quoted(item) },
        [...path, index],
        item,
        related,
      )
      sound = false
    }
  }
  return sound
}

function hasType({ type, value }: ScalarTree, form: ScalarForm): boolean {
  for (const allowed of form.types) {
    if (
      allowed === 'string'
        ? type === 'string' || type === 'date'
        : allowed === 'boolean'
          ? type === 'bool'
          : allowed === type
    )
      return true
    // JSON has no infinite numbers; a map of values takes their text, as it does that of every number.
    if (
      allowed === 'number' &&
      (type === 'int' || (type === 'float' && (Number.isFinite(value) || form.types.length > 2)))
    )
      return true
    if (allowed === 'integer' && (type === 'int' || (type === 'float' && Number.isInteger(value)))) return true
  }
  return false
}

function checkScalar(tree: ScalarTree, form: ScalarForm, path: ModelPath, findings: Findings): boolean {
  const { value } = tree
  if (typeof value === 'number' || typeof value === 'bigint') {
    if ((form.minimum === undefined || value >= form.minimum) && (form.maximum === undefined || value <= form.maximum))
      return true
    findings.add(findings.mistakes.outOfRange, placeOf(tree), { path, form, found: found(tree) }, path, tree)
    return false
  }
  if (typeof value !== 'string' || (!form.words && !form.pattern)) return true
  if (form.words?.includes(value) || form.pattern?.test(value)) {
    if (form.odd?.pattern.test(value))
      findings.add(findings.mistakes.oddValue, placeOf(tree), { path, says: form.odd.says }, path, tree)
    return true
  }
  findings.add(findings.mistakes.notAllowed, placeOf(tree), { path, form, value, found: quoted(tree) }, path, tree)
  return false
}

/** The key of a value that is not there or lacks something; an item of a list has none. */
const headOf = (tree: Tree, path: ModelPath, keySpan: Span): Span =>
  typeof path.at(-1) === 'number' ? tree.span : keySpan

/** The `${…}` where one variable gave the value, else the value. */
function placeOf(tree: Tree): Span {
  const only = tree.kind === 'scalar' && tree.variables?.length === 1 ? tree.variables[0] : undefined
  return only?.span ?? tree.span
}
