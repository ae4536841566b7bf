import type { At, Span } from '../../text/source.ts'
import { type Entry, get, isMap, type MapTree, type ScalarTree, type Tree } from '../../text/tree.ts'
import type { Pair, Words } from '../project.ts'

// Accessors for the canonical tree, whose shape is known to be good: what has another shape reads as absent, because the schema has
// reported it. Each value keeps its place.

const noEntries: ReadonlyMap<string, Entry> = new Map()

/** The entries of the mapping under a path of keys; none where there is no mapping. */
export function entries(tree: Tree | undefined, ...path: readonly string[]): ReadonlyMap<string, Entry> {
  const found = get(tree, ...path)
  return isMap(found) ? found.entries : noEntries
}

/** The mapping under a path of keys. */
export function map(tree: Tree | undefined, ...path: readonly string[]): MapTree | undefined {
  const found = get(tree, ...path)
  return isMap(found) ? found : undefined
}

/** The scalar under a path of keys, null excepted. */
export function scalar(tree: Tree | undefined, ...path: readonly string[]): ScalarTree | undefined {
  const found = get(tree, ...path)
  return found?.kind === 'scalar' && found.type !== 'null' ? found : undefined
}

/** The items of the list under a path of keys. */
export function items(tree: Tree | undefined, ...path: readonly string[]): readonly Tree[] {
  const found = get(tree, ...path)
  return found?.kind === 'seq' ? found.items : []
}

/** The scalars of the list under a path of keys. */
export function scalars(tree: Tree | undefined, ...path: readonly string[]): readonly ScalarTree[] {
  return items(tree, ...path).filter(item => item.kind === 'scalar' && item.type !== 'null') as ScalarTree[] // checked in the same line
}

/** A scalar as text. */
export function text(tree: Tree | undefined, ...path: readonly string[]): At<string> | undefined {
  const found = scalar(tree, ...path)
  return found && textOf(found)
}

export const textOf = (found: ScalarTree): At<string> => ({ value: String(found.value), span: found.span })

/** Like `text`, but an empty text, as an unset variable leaves it, is absent. */
export function filledText(tree: Tree | undefined, ...path: readonly string[]): At<string> | undefined {
  const found = text(tree, ...path)
  return found?.value === '' ? undefined : found
}

/** A boolean, or the words `true` and `false`, which is how the value of a variable arrives in keys that Compose does not know. */
export function flag(tree: Tree | undefined, ...path: readonly string[]): At<boolean> | undefined {
  const found = scalar(tree, ...path)
  const value = String(found?.value)
  if (!found || (value !== 'true' && value !== 'false')) return undefined
  return { value: value === 'true', span: found.span }
}

/** A whole number, or its digits in a text. */
export function integer(tree: Tree | undefined, ...path: readonly string[]): At<number> | undefined {
  const found = scalar(tree, ...path)
  const value = found && integerOf(found)
  return found && value !== undefined ? { value, span: found.span } : undefined
}

export function integerOf(found: ScalarTree): number | undefined {
  if (found.type === 'bool') return undefined
  const digits = String(found.value).trim()
  return /^[+-]?\d+$/.test(digits) ? Number(digits) : undefined
}

/** A list of texts. */
export function list(tree: Tree | undefined, ...path: readonly string[]): readonly At<string>[] {
  return scalars(tree, ...path).map(textOf)
}

/** A list of words as one value; undefined where there is no list, which is not the same as an empty one. */
export function words(tree: Tree | undefined, ...path: readonly string[]): Words | undefined {
  const found = get(tree, ...path)
  if (found?.kind !== 'seq') return undefined
  return { words: list(found).map(word => word.value), span: found.span }
}

/** A mapping of texts, sorted by name. Null values are left out, or read as `ifNull`. */
export function pairs(tree: Tree | undefined, path: readonly string[], ifNull?: string): readonly Pair[] {
  const found: Pair[] = []
  for (const [name, { key, value }] of entries(tree, ...path)) {
    if (value.kind !== 'scalar') continue
    if (value.type !== 'null') found.push({ name, value: String(value.value), span: value.span, key })
    else if (ifNull !== undefined) found.push({ name, value: ifNull, span: key, key })
  }
  return sortByName(found)
}

/** Sorted by code units, so that the order is the same in every locale. */
export function sortByName<T extends { readonly name: string }>(values: T[]): T[] {
  return values.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
}

/** The place of a key. */
export const keySpan = (tree: Tree | undefined, key: string): Span | undefined =>
  isMap(tree) ? tree.entries.get(key)?.key : undefined
