import type { Merge } from '../../schema/load-rules.ts'
import type { Span } from '../../text/source.ts'
import { type Entry, get, isNull, type MapTree, type SeqTree, scalarTree, type Tree } from '../../text/tree.ts'
import { pairScalar, scalarText, treeKey } from '../../text/tree-text.ts'
import { withoutLastSlash } from '../../values/path-prefix.ts'
import { keepLastByName } from './identities.ts'

/** Replaces the earlier value with the later value. */
export const replace: Merge = (base, override) => replaced(base, override)

/** Converts each value to a list of `KEY=value` and concatenates the lists. Keeps the last item of each name. */
export const pairs: Merge = (base, override) => {
  const items = keepLastByName([...toList(base), ...toList(override)])
  return { kind: 'seq', span: isNull(override) ? base.span : override.span, items }
}

/** Converts each value to a list and concatenates the lists. */
export const texts: Merge = (base, override) =>
  append(
    { kind: 'seq', span: base.span, items: toList(base) },
    { kind: 'seq', span: override.span, items: toList(override) },
  )

/** Converts a list, text or mapping to a list. The items for a mapping are `KEY=value`, sorted as in Docker Compose. */
function toList(tree: Tree): readonly Tree[] {
  switch (tree.kind) {
    case 'seq':
      return tree.items
    case 'scalar':
      return tree.type === 'string' ? [tree] : []
    case 'map': {
      const items: Tree[] = []
      for (const [key, entry] of tree.entries)
        for (const value of entry.value.kind === 'seq' ? entry.value.items : [entry.value])
          if (value.kind === 'scalar') items.push(pairScalar(key, entry.key, value))
      return items.sort((a, b) =>
        compareText(String((a as { value: unknown }).value), String((b as { value: unknown }).value)),
      )
    }
  }
}

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/**
 * Returns a merge rule that converts lists of names to mappings and merges the mappings. `value` returns the value that
 * each name in a list gets.
 */
const asMapping =
  (value: (span: Span) => Tree): Merge =>
  (base, override, merging) => {
    const toMap = (tree: Tree): MapTree | undefined => {
      if (tree.kind === 'map') return tree
      if (isNull(tree)) return { kind: 'map', span: tree.span, entries: new Map() }
      const names = tree.kind === 'seq' ? tree.items : [tree]
      const entries = new Map<string, Entry>()
      for (const name of names) {
        if (name.kind !== 'scalar' || name.type !== 'string') return undefined
        entries.set(name.value as string, { key: name.span, value: value(name.span) })
      }
      return { kind: 'map', span: tree.span, entries }
    }
    const [left, right] = [toMap(base), toMap(override)]
    return left && right ? merging.maps(left, right) : merging.conflict(base, override)
  }

/** Merges `depends_on`; a name in a list has the default condition. */
export const dependencies = asMapping(span => ({
  kind: 'map',
  span,
  entries: new Map([
    ['condition', { key: span, value: scalarTree(span, 'service_started') }],
    ['required', { key: span, value: scalarTree(span, true) }],
  ]),
}))
/** Merges names as mappings with null values. */
export const names = asMapping(span => scalarTree(span, null))

/** Converts text to a mapping with `context`, and merges the mappings. */
export const build: Merge = (base, override, merging) => {
  const toMap = (tree: Tree): MapTree | undefined => {
    if (tree.kind === 'map') return tree
    if (isNull(tree)) return { kind: 'map', span: tree.span, entries: new Map() }
    if (tree.kind !== 'scalar' || tree.type !== 'string') return undefined
    return { kind: 'map', span: tree.span, entries: new Map([['context', { key: tree.span, value: tree }]]) }
  }
  const [left, right] = [toMap(base), toMap(override)]
  return left && right ? merging.maps(left, right) : merging.conflict(base, override)
}

/**
 * Merges the options of two logging configurations with the same driver. If the drivers differ, replaces the earlier
 * configuration with the later one.
 */
export const logging: Merge = (base, override, merging) => {
  if (isNull(override)) return base
  if (base.kind !== 'map' || override.kind !== 'map') return merging.conflict(base, override)
  const driver = (map: MapTree) => {
    const value = get(map, 'driver')
    return value && treeKey(value)
  }
  const [before, after] = [driver(base), driver(override)]
  return before === after || before === undefined || after === undefined
    ? merging.maps(base, override)
    : replaced(base, override)
}

/** Merges a ulimit: two mappings are merged; in all other cases, the later value replaces the earlier value. */
export const ulimit: Merge = (base, override, merging) =>
  base.kind === 'map' && override.kind === 'map' ? merging.maps(base, override) : replaced(base, override)

/** Merges address pools with the same subnet and appends the others. */
export const addressPools: Merge = (base, override, merging) => {
  if (isNull(override)) return base
  if (base.kind !== 'seq' || override.kind !== 'seq') return merging.conflict(base, override)
  const subnet = (item: Tree) => {
    const value = get(item, 'subnet')
    return value ? treeKey(value) : ''
  }
  const items = [...base.items]
  for (const item of override.items) {
    const place = items.findIndex(before => subnet(before) === subnet(item))
    const before = items[place]
    if (before?.kind === 'map' && item.kind === 'map') items[place] = merging.maps(before, item)
    else items.push(item)
  }
  return { kind: 'seq', span: override.span, items }
}

/**
 * Replaces each earlier rule with the later rule that has the same path and hosts, at the position of the earlier rule.
 * Appends all other later rules.
 */
export const rulesByPath: Merge = (base, override, merging) => {
  if (base.kind !== 'seq' || override.kind !== 'seq') return merging.byKind(base, override)
  const places = new Map(base.items.map((rule, place) => [routeKey(rule), place]))
  const items = [...base.items]
  for (const rule of override.items) {
    const key = routeKey(rule)
    const place = places.get(key)
    // If a later file has two rules for the path, the second is appended, and then reported as a duplicate.
    places.delete(key)
    if (place === undefined) items.push(rule)
    else items[place] = replaced(items[place]!, rule)
  }
  return { kind: 'seq', span: override.span, items }
}

/** Returns the identity of a rule: its path and hosts. A rule without a path equals only exact copies. */
function routeKey(rule: Tree): string {
  const path = get(rule, 'path')
  const prefix = path?.kind === 'scalar' ? withoutLastSlash(scalarText(path)) : treeKey(path ?? rule)
  return `${prefix} ${treeKey(get(rule, 'host') ?? { kind: 'seq', span: rule.span, items: [] })}`
}

/**
 * Merges endpoints. If only one value is a mapping with `rules`, the other value (a list of rules) is treated as a
 * mapping without labels.
 */
export const endpoints: Merge = (base, override, merging) => {
  const [before, after] = [asObject(base, override), asObject(override, base)]
  return before && after ? merging.maps(before, after) : rulesByPath(base, override, merging)
}

/**
 * Converts a list of rules to a mapping with `rules` if the other value is a mapping with `rules`. Returns a mapping
 * unchanged, and undefined in all other cases.
 */
function asObject(tree: Tree, other: Tree): MapTree | undefined {
  if (tree.kind === 'map') return tree
  if (tree.kind !== 'seq' || get(other, 'rules')?.kind !== 'seq') return undefined
  return { kind: 'map', span: tree.span, entries: new Map([['rules', { key: tree.span, value: tree }]]) }
}

/**
 * Appends the later items that the earlier list does not contain. Docker Compose reports an error for some of the
 * duplicates that are skipped here.
 */
export function append(base: SeqTree, override: SeqTree): SeqTree {
  const known = new Set(base.items.map(treeKey))
  const items = [...base.items]
  for (const item of override.items) {
    const key = treeKey(item)
    if (known.has(key)) continue
    known.add(key)
    items.push(item)
  }
  return { kind: 'seq', span: override.span, items }
}

/** Returns the later value, with the span of the earlier value in `replaced`. */
export function replaced(base: Tree, override: Tree): Tree {
  return base === override ? override : { ...override, replaced: [base.span, ...(base.replaced ?? [])] }
}
