import type { Span } from '../text/source.ts'
import type { MapTree, ScalarTree, SeqTree, Tree } from '../text/tree.ts'
import { describeShape, describeValue, quoted } from './describe.ts'
import type { Findings } from './findings.ts'
import type { ModelPath } from './model-path.ts'
import { shapeOf } from './row.ts'
import type { ListForm, MapForm, ScalarForm, Shape } from './shape.ts'

/** Path of a value in the model, and position of its key in the file. */
export interface CheckedPlace {
  readonly path: ModelPath
  readonly keySpan: Span
}

/** An entry of a mapping: its key, and the position of the key with the value. */
type MapEntry = readonly [key: string, entry: { readonly key: Span; readonly value: Tree }]

/**
 * Checks a value against a shape and adds every error to `findings`. Returns false if the value is invalid and must not
 * be read. If the value is a mapping, its invalid keys are added to `invalidKeys`. The recursion is limited by the
 * depth of the shape, not of the tree.
 */
export function check(
  tree: Tree,
  shape: Shape,
  { path, keySpan }: CheckedPlace,
  findings: Findings,
  invalidKeys?: Set<string>,
): boolean {
  if (shape.any) return true
  if (tree.kind === 'map' && shape.map) return checkMap(tree, shape.map, { path, keySpan }, findings, invalidKeys)
  if (tree.kind === 'seq' && shape.list) return checkList(tree, shape.list, path, findings)
  if (tree.kind === 'scalar') {
    if (findings.isUnchecked(tree, shape.scalar !== undefined)) return true
    if (shape.scalar && hasType(tree, shape.scalar)) return checkScalar(tree, shape.scalar, path, findings)
    if (tree.type === 'null') {
      findings.add(
        findings.diagnostics.nullValue,
        headOf(tree, path, keySpan),
        { path, allowed: describeShape(shape) },
        path,
      )
      return false
    }
  }
  findings.add(
    findings.diagnostics.wrongType,
    placeOf(tree),
    { path, shape, tree, allowed: describeShape(shape), found: describeValue(tree) },
    path,
    { tree },
  )
  return false
}

function checkMap(
  tree: MapTree,
  declared: MapForm,
  { path, keySpan }: CheckedPlace,
  findings: Findings,
  invalidKeys?: Set<string>,
): boolean {
  const form = declared.choose?.(tree) ?? declared
  let isValid = true
  for (const entry of tree.entries)
    if (!checkEntry(entry, form, path, findings)) {
      const [key] = entry
      isValid = false
      invalidKeys?.add(key)
      // An unknown key may be a misspelling of any other key.
      if (!Object.hasOwn(form.keys, key)) invalidKeys?.add('*')
    }
  const missing = form.required.filter(key => !tree.entries.has(key))
  // An unknown key is probably a misspelling of the missing one.
  if (missing.length > 0 && !hasUnknownKey(tree, form))
    for (const key of missing) {
      if (!findings.reportsMissing) findings.addUnreported([...path, key])
      else findings.add(findings.diagnostics.missingKey, headOf(tree, path, keySpan), { path, key }, [...path, key])
      isValid = false
    }
  return isValid
}

function hasUnknownKey(tree: MapTree, form: MapForm): boolean {
  if (form.others || form.unknown === 'warning') return false
  for (const key of tree.entries.keys()) if (!Object.hasOwn(form.keys, key) && !isExtension(key, form)) return true
  return false
}

const isExtension = (key: string, form: MapForm) => form.extensions && key.startsWith('x-')

/** Checks one entry of a mapping against the mapping's form. Returns false if the entry is invalid. */
export function checkEntry(
  entry: MapEntry,
  form: MapForm,
  path: ModelPath,
  findings: Findings,
  invalidKeys?: Set<string>,
): boolean {
  const [key, { key: span, value }] = entry
  const field = Object.hasOwn(form.keys, key) ? form.keys[key] : undefined
  const place = () => ({ path: [...path, key], keySpan: span })
  if (field) return check(value, shapeOf(field), place(), findings)
  if (!form.others || isExtension(key, form)) return checkUnknown(entry, form, path, findings)
  if (form.others.names.test(key)) return check(value, shapeOf(form.others.row), place(), findings, invalidKeys)
  if (form.others.otherwise === 'ignored') return true
  findings.add(findings.diagnostics.badName, span, { path, name: key }, [...path, key])
  return false
}

/**
 * Checks a key that the form does not define. An extension is valid. Any other key is an error, or a warning if
 * `form.unknown` is `warning`. Returns false for an error.
 */
export function checkUnknown(
  [key, { key: span, value }]: MapEntry,
  form: MapForm,
  path: ModelPath,
  findings: Findings,
): boolean {
  if (isExtension(key, form)) return true
  const hint = findings.mayHint() ? findings.diagnostics.hintForUnknown(key, value, form, path) : undefined
  if (form.unknown === 'warning') {
    findings.add(findings.diagnostics.ignoredKey, span, { path, key, hint }, [...path, key])
    return true
  }
  findings.add(findings.diagnostics.unknownKey(path), span, { path, key, hint }, [...path, key])
  return false
}

function checkList(tree: SeqTree, form: ListForm, path: ModelPath, findings: Findings): boolean {
  let isValid = true
  for (const [index, item] of tree.items.entries())
    if (!check(item, form.items, { path: [...path, index], keySpan: item.span }, findings)) isValid = false
  return form.unique ? checkUnique(tree, path, findings) && isValid : isValid
}

/** Reports items that occur twice. Lists with `unique` contain only scalars. */
function checkUnique(tree: SeqTree, path: ModelPath, findings: Findings): boolean {
  const seen = new Map<ScalarTree['value'], ScalarTree>()
  let isValid = true
  for (const [index, item] of tree.items.entries()) {
    if (item.kind !== 'scalar') continue
    const first = seen.get(item.value)
    if (first === undefined) seen.set(item.value, item)
    else {
      const related = [{ span: first.span, message: 'it is here already' }]
      findings.add(findings.diagnostics.duplicateItem, item.span, { path, item: quoted(item) }, [...path, index], {
        tree: item,
        related,
      })
      isValid = false
    }
  }
  return isValid
}

function hasType({ type, value }: ScalarTree, form: ScalarForm): boolean {
  if (type === 'float' && form.digitsOnly) return false
  for (const allowed of form.types) {
    if (
      allowed === 'string'
        ? type === 'string' || type === 'date'
        : allowed === 'boolean'
          ? type === 'bool'
          : allowed === type
    )
      return true
    // JSON has no infinite numbers. Mappings such as `environment` accept them, because they keep the text of the
    // number.
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
    findings.add(findings.diagnostics.outOfRange, placeOf(tree), { path, form, found: describeValue(tree) }, path, {
      tree,
    })
    return false
  }
  if (typeof value !== 'string' || (!form.words && !form.pattern)) return true
  if (form.words?.includes(value) || form.pattern?.test(value)) {
    if (form.odd?.pattern.test(value))
      findings.add(findings.diagnostics.oddValue, placeOf(tree), { path, says: form.odd.says }, path, { tree })
    return true
  }
  findings.add(findings.diagnostics.notAllowed, placeOf(tree), { path, form, value, found: quoted(tree) }, path, {
    tree,
  })
  return false
}

/**
 * Returns the span for an error about an absent or incomplete value: the span of a list item, otherwise the span of the
 * value's key.
 */
const headOf = (tree: Tree, path: ModelPath, keySpan: Span): Span =>
  typeof path.at(-1) === 'number' ? tree.span : keySpan

/** Returns the span of a value in error. If the value comes from a single variable, returns the span of its `${…}`. */
function placeOf(tree: Tree): Span {
  const only = tree.kind === 'scalar' && tree.variables?.length === 1 ? tree.variables[0] : undefined
  return only?.span ?? tree.span
}
