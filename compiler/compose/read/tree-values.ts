import type { At, Span } from '../../text/source.ts'
import { type Entry, get, isMap, type MapTree, type ScalarTree, type Tree } from '../../text/tree.ts'
import { scalarText } from '../../text/tree-text.ts'
import type { Pair, Words } from '../project.ts'

// Accessors for the canonical tree. The shape of the tree has been validated, so a value of another kind is treated as
// absent. Each value keeps its span.

const noEntries: ReadonlyMap<string, Entry> = new Map()

/** Returns the entries of the mapping at a path of keys; no entries if there is no mapping. */
export function entries(tree: Tree | undefined, ...path: readonly string[]): ReadonlyMap<string, Entry> {
  const found = get(tree, ...path)
  return isMap(found) ? found.entries : noEntries
}

/** Returns the mapping at a path of keys; undefined if there is no mapping. */
export function map(tree: Tree | undefined, ...path: readonly string[]): MapTree | undefined {
  const found = get(tree, ...path)
  return isMap(found) ? found : undefined
}

/** Returns the scalar at a path of keys; undefined if there is no scalar, and for null. */
export function scalar(tree: Tree | undefined, ...path: readonly string[]): ScalarTree | undefined {
  const found = get(tree, ...path)
  return found?.kind === 'scalar' && found.type !== 'null' ? found : undefined
}

/** Returns the items of the list at a path of keys; no items if there is no list. */
export function items(tree: Tree | undefined, ...path: readonly string[]): readonly Tree[] {
  const found = get(tree, ...path)
  return found?.kind === 'seq' ? found.items : []
}

/** Returns the scalars of the list at a path of keys, except null. */
export function scalars(tree: Tree | undefined, ...path: readonly string[]): readonly ScalarTree[] {
  // The filter has checked the kind.
  return items(tree, ...path).filter(item => item.kind === 'scalar' && item.type !== 'null') as ScalarTree[]
}

/** Returns the scalar at a path of keys as text; undefined if there is no scalar, and for null. */
export function text(tree: Tree | undefined, ...path: readonly string[]): At<string> | undefined {
  const found = scalar(tree, ...path)
  return found && textOf(found)
}

/** Returns the value of a scalar as text, with its span. */
export const textOf = (found: ScalarTree): At<string> => ({ value: String(found.value), span: found.span })

/**
 * Returns the scalar at a path of keys as text. Returns undefined if the text is empty, for example because a variable
 * is not set.
 */
export function nonEmptyText(tree: Tree | undefined, ...path: readonly string[]): At<string> | undefined {
  const found = text(tree, ...path)
  return found?.value === '' ? undefined : found
}

/**
 * Returns the boolean at a path of keys. Accepts the text `true` and `false`, which variables produce in keys without a
 * `cast` rule.
 */
export function flag(tree: Tree | undefined, ...path: readonly string[]): At<boolean> | undefined {
  const found = scalar(tree, ...path)
  const value = String(found?.value)
  if (!found || (value !== 'true' && value !== 'false')) return undefined
  return { value: value === 'true', span: found.span }
}

/** Returns the integer at a path of keys. Accepts text that contains an integer. */
export function integer(tree: Tree | undefined, ...path: readonly string[]): At<number> | undefined {
  const found = scalar(tree, ...path)
  const value = found && integerOf(found)
  return found && value !== undefined ? { value, span: found.span } : undefined
}

/** Returns the value of a scalar as an integer; undefined if it is not an integer. */
export function integerOf(found: ScalarTree): number | undefined {
  if (found.type === 'bool') return undefined
  const digits = String(found.value).trim()
  return /^[+-]?\d+$/.test(digits) ? Number(digits) : undefined
}

/** Returns the scalars of the list at a path of keys as text, except null. */
export function list(tree: Tree | undefined, ...path: readonly string[]): readonly At<string>[] {
  return scalars(tree, ...path).map(textOf)
}

/** Returns the command at a path of keys, as a list of arguments with one span; undefined if there is no list. */
export function words(tree: Tree | undefined, ...path: readonly string[]): Words | undefined {
  const found = get(tree, ...path)
  if (found?.kind !== 'seq') return undefined
  return { words: list(found).map(word => word.value), span: found.span }
}

/**
 * Returns the entries of the mapping at a path of keys as pairs of texts, sorted by name. Omits null values, or
 * replaces them with `ifNull` if it is set.
 */
export function pairs(tree: Tree | undefined, path: readonly string[], ifNull?: string): readonly Pair[] {
  const found: Pair[] = []
  for (const [name, { key, value }] of entries(tree, ...path)) {
    if (value.kind !== 'scalar') continue
    if (value.type !== 'null') found.push({ name, value: scalarText(value), span: value.span, key })
    else if (ifNull !== undefined) found.push({ name, value: ifNull, span: key, key })
  }
  return sortByName(found)
}

/**
 * Sorts values by name, in place, and returns them. Compares code units, so the order does not depend on the locale.
 */
export function sortByName<T extends { readonly name: string }>(values: T[]): T[] {
  return values.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
}

/** Returns the span of a key in a mapping; undefined if the mapping does not have the key. */
export const keySpan = (tree: Tree | undefined, key: string): Span | undefined =>
  isMap(tree) ? tree.entries.get(key)?.key : undefined
