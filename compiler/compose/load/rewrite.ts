import { ITEM, PathRules, type RuleStep } from '../../text/path.ts'
import type { Entry, MapTree, SeqTree, Tree } from '../../text/tree.ts'

/** Applies a rule to a value. Returns undefined if that fails. */
type Apply<Rule> = (rule: Rule, tree: Tree) => Tree | undefined

/**
 * Applies rules to all values of a tree that have a rule, to each value before its members. Returns the same tree if
 * nothing changes. If a rule fails, applies the other rules as well, to report all errors, and then returns undefined.
 */
export function rewrite<Rule>(tree: Tree, step: RuleStep<Rule> | undefined, apply: Apply<Rule>): Tree | undefined {
  if (step === undefined) return tree
  const rule = PathRules.at(step)
  const own = rule === undefined ? tree : apply(rule, tree)
  if (own?.kind === 'map') {
    const { map, failed } = rewriteMembers(own, step, apply)
    return failed.length > 0 ? undefined : map
  }
  return own?.kind === 'seq' ? rewriteItems(own, PathRules.below(step, ITEM), apply) : own
}

/** Rewrites the members of a mapping. Members that cannot be rewritten are removed and listed in `failed`. */
export function rewriteMembers<Rule>(
  map: MapTree,
  step: RuleStep<Rule> | undefined,
  apply: Apply<Rule>,
): { readonly map: MapTree; readonly failed: readonly string[] } {
  let entries: Map<string, Entry> | undefined
  const failed: string[] = []
  map.entries.forEach((entry, key) => {
    const below = PathRules.below(step, key)
    if (below === undefined) return
    const result = rewrite(entry.value, below, apply)
    if (result === entry.value) return
    entries ??= new Map(map.entries)
    if (result) entries.set(key, { key: entry.key, value: result })
    else {
      entries.delete(key)
      failed.push(key)
    }
  })
  return { map: entries ? { ...map, entries } : map, failed }
}

function rewriteItems<Rule>(list: SeqTree, step: RuleStep<Rule> | undefined, apply: Apply<Rule>): SeqTree | undefined {
  if (step === undefined) return list
  const items = list.items.map(item => rewrite(item, step, apply))
  if (items.includes(undefined)) return undefined
  // None of the items is undefined at this point.
  return items.every((item, index) => item === list.items[index]) ? list : { ...list, items: items as Tree[] }
}
