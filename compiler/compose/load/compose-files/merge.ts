import { diagnostic } from '../../../diagnostics/diagnostic.ts'
import type { Reporter } from '../../../diagnostics/reporter.ts'
import type { Merge, MergeContext } from '../../../schema/load-rules.ts'
import { PathRules, type RuleStep } from '../../../text/path.ts'
import { isNull, type MapTree, type Tree } from '../../../text/tree.ts'
import { append, replaced } from '../../keys/merge-rules.ts'
import { rulesOf } from '../../keys/rules-by-path.ts'

const kindConflict = diagnostic({
  code: 'merge/kind-conflict',
  severity: 'error',
  explain:
    'Two definitions of a key are merged (a later file over an earlier one, or a service over the one it extends), but their types differ: mapping, list, or single value. Write both in the same form, or put `!override` before the later value to replace the earlier one.',
  text: (p: { base: string; override: string }) => ({
    message: `${p.override} cannot be merged into ${p.base}`,
    hint: 'write both in the same form, or replace the earlier one with `!override`',
  }),
})

const MERGE = rulesOf('merge')

/**
 * Merges a later model over an earlier one with the merge rules of the keys
 * (https://github.com/compose-spec/compose-spec/blob/main/13-merge.md). If two values cannot be merged, reports
 * `merge/*` and keeps the earlier value.
 */
export function mergeModels(base: MapTree, override: MapTree, reporter: Reporter): MapTree {
  return new Merger(reporter, MERGE.start).maps(base, override)
}

/** Merges two values at the same path of the model, for example a service over the service that it extends. */
export function mergeAt(path: readonly string[], base: Tree, override: Tree, reporter: Reporter): Tree {
  return mergeTrees(base, override, reporter, MERGE.find(path))
}

function mergeTrees(base: Tree, override: Tree, reporter: Reporter, step: RuleStep<Merge> | undefined): Tree {
  const merger = new Merger(reporter, step)
  const rule = PathRules.at(step)
  return rule ? rule(base, override, merger) : merger.byKind(base, override)
}

/** Merges two values at one position in the table of merge rules. */
class Merger implements MergeContext {
  readonly #reporter: Reporter
  readonly #step: RuleStep<Merge> | undefined

  constructor(reporter: Reporter, step: RuleStep<Merge> | undefined) {
    this.#reporter = reporter
    this.#step = step
  }

  byKind(base: Tree, override: Tree): Tree {
    if (isNull(override)) return base
    if (base.kind === 'map' && override.kind === 'map') return this.maps(base, override)
    if (base.kind === 'seq' && override.kind === 'seq') return append(base, override)
    if (base.kind === 'scalar') return replaced(base, override)
    return this.conflict(base, override)
  }

  maps(base: MapTree, override: MapTree): MapTree {
    if (override.entries.size === 0) return base
    const entries = new Map(base.entries)
    for (const [key, entry] of override.entries) {
      const before = entries.get(key)
      const value = before
        ? mergeTrees(before.value, entry.value, this.#reporter, PathRules.below(this.#step, key))
        : entry.value
      entries.set(key, before ? { key: entry.key, value } : entry)
    }
    return { ...base, entries }
  }

  conflict(base: Tree, override: Tree): Tree {
    const kinds = { base: describeKind(base), override: describeKind(override) }
    this.#reporter.report(kindConflict, override.span, kinds, [{ span: base.span, message: 'merged with this' }])
    return base
  }
}

const describeKind = (tree: Tree): string =>
  tree.kind === 'map' ? 'a mapping' : tree.kind === 'seq' ? 'a list' : 'a single value'
