import { diagnostic } from '../../../diagnostics/diagnostic.ts'
import type { Reporter } from '../../../diagnostics/reporter.ts'
import { didYouMean } from '../../../diagnostics/suggest.ts'
import { check } from '../../../schema/check.ts'
import { knownKeys } from '../../../schema/describe.ts'
import {
  badName,
  duplicateItem,
  ignoredKey,
  type KeyProblem,
  missingKey,
  notAllowed,
  nullValue,
  oddValue,
  outOfRange,
  wrongType,
} from '../../../schema/diagnostics.ts'
import { Findings } from '../../../schema/findings.ts'
import { describePath, type ModelPath } from '../../../schema/model-path.ts'
import { shapeOf } from '../../../schema/row.ts'
import type { Shape } from '../../../schema/shape.ts'
import type { MapTree, ScalarTree, Tree } from '../../../text/tree.ts'
import type { FieldMap, FieldValue } from '../../../values/kubernetes/fields.ts'

const unknownField = diagnostic<KeyProblem>({
  code: 'kubernetes/unknown-field',
  severity: 'error',
  explain:
    'devctl checks `x-kubernetes` against the API of Kubernetes 1.34, which has no such field at this position. The API server would ignore it or refuse the object.',
  text: ({ path, key, hint, notes }) => ({
    message: `unknown field \`${key}\` in ${describePath(path)}`,
    hint,
    notes,
  }),
})

/** The schema diagnostics for fields of the Kubernetes API. */
const diagnostics = {
  ...{ badName, duplicateItem, ignoredKey, missingKey, notAllowed, nullValue, oddValue, outOfRange, wrongType },
  hintForUnknown: (key: string, _: Tree, form: NonNullable<Shape['map']>) =>
    key === 'spec' ? 'remove `spec`, and write its fields one level higher' : didYouMean(key, knownKeys(form)),
  unknownKey: () => unknownField,
}

/** Checks a mapping against a shape, and returns it as JSON; undefined if there are errors, which are reported. */
export function readFields(tree: MapTree, shape: Shape, path: ModelPath, reporter: Reporter): FieldMap | undefined {
  const cast = withCasts(tree, shape)
  const findings = new Findings(diagnostics)
  const isValid = check(cast, shape, { path, keySpan: tree.span }, findings)
  findings.report(reporter)
  return isValid && checkNumbers(cast, reporter) ? (toJson(cast) as FieldMap) : undefined // a mapping becomes one
}

const badNumber = diagnostic({
  code: 'kubernetes/bad-number',
  severity: 'error',
  explain:
    'Objects are sent to the API server as JSON, which has no infinite numbers and no `.nan`, and in which whole numbers of more than 15 digits are rounded. Write such a value as text if the field takes text.',
  text: (p: { text: string; isFinite: boolean }) => ({
    message: p.isFinite ? `\`${p.text}\` would be rounded` : `\`${p.text}\` cannot be a value of a Kubernetes object`,
    hint: `if the field takes text, put it in quotes: \`"${p.text}"\``,
  }),
})

/** Reports numbers that JSON cannot represent exactly. Returns false if there are any. */
export function checkNumbers(tree: Tree, reporter: Reporter): boolean {
  if (tree.kind === 'map') return all([...tree.entries.values()].map(({ value }) => checkNumbers(value, reporter)))
  if (tree.kind === 'seq') return all(tree.items.map(item => checkNumbers(item, reporter)))
  const { value, span } = tree
  const isWhole = tree.type === 'int'
  const isFine = isWhole ? Number.isSafeInteger(Number(value)) : typeof value !== 'number' || Number.isFinite(value)
  if (!isFine)
    reporter.report(badNumber, span, {
      text: span.file.text.slice(span.start, span.end),
      isFinite: Number.isFinite(Number(value)),
    })
  return isFine
}

const all = (found: readonly boolean[]): boolean => found.every(Boolean)

/**
 * Converts scalars to the types of their fields: text from a variable to a number or boolean, and a number in a
 * quantity field to text, as the API server writes it.
 */
function withCasts(tree: Tree, shape: Shape): Tree {
  switch (tree.kind) {
    case 'map': {
      const { keys = {}, others } = shape.map ?? {}
      const entries = [...tree.entries].map(([key, { key: span, value }]) => {
        const field = Object.hasOwn(keys, key) ? keys[key] : others?.row
        return [key, { key: span, value: field ? withCasts(value, shapeOf(field)) : value }] as const
      })
      return { ...tree, entries: new Map(entries) }
    }
    case 'seq': {
      const items = shape.list?.items
      return items ? { ...tree, items: tree.items.map(item => withCasts(item, items)) } : tree
    }
    case 'scalar':
      return castScalar(tree, shape)
  }
}

function castScalar(tree: ScalarTree, { scalar }: Shape): ScalarTree {
  const text = String(tree.value)
  const types = scalar?.types ?? []
  if (types[0] === 'string' && types[1] === 'number' && typeof tree.value === 'number')
    return { ...tree, type: 'string', value: text }
  if (tree.template === undefined || tree.type !== 'string') return tree
  if (types.includes('boolean') && /^(true|false)$/.test(text)) return { ...tree, type: 'bool', value: text === 'true' }
  if (types.includes('integer') && /^-?\d{1,15}$/.test(text)) return { ...tree, type: 'int', value: Number(text) }
  return tree
}

/** Returns a tree as JSON. */
export function toJson(tree: Tree): FieldValue {
  switch (tree.kind) {
    case 'map':
      return Object.fromEntries([...tree.entries].map(([key, { value }]) => [key, toJson(value)]))
    case 'seq':
      return tree.items.map(toJson)
    case 'scalar':
      return typeof tree.value === 'bigint' ? Number(tree.value) : tree.value
  }
}
