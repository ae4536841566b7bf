import { diagnostic } from '../../../diagnostics/diagnostic.ts'
import type { Reporter } from '../../../diagnostics/reporter.ts'
import type { Reset } from '../../../text/document-reader.ts'
import type { Path } from '../../../text/path.ts'
import { type Entry, isMap, type Tree } from '../../../text/tree.ts'
import type { DroppedValue } from '../loaded.ts'
import { withCurrentNames } from './former-extensions.ts'

const withoutEffect = diagnostic({
  code: 'merge/reset-without-effect',
  severity: 'warning',
  explain:
    '`!reset` and `!override` drop the value that an earlier file (or an included or extended one) sets for the same key. No earlier file sets it, so the tag has no effect. Check the spelling of the key and the order of the files.',
  text: (p: { path: string }) => ({ message: `\`${p.path}\` has no earlier definition, so the tag has no effect` }),
})

/** A node in the tree of a document's tags, whose edges are the keys of the model. */
interface Mark {
  readonly below: Map<string, Mark>
  /** The tags at this path. */
  readonly resets: Reset[]
  /** True if a tag removed a value. */
  used: boolean
}

/**
 * The `!reset` and `!override` tags of one document
 * (https://github.com/compose-spec/compose-spec/blob/main/13-merge.md#reset-value).
 */
export class Resets {
  readonly #root: Mark = { below: new Map(), resets: [], used: false }
  readonly #dropped: DroppedValue[]

  /** Builds the tree of a document's tags. `applyTo` adds the values that the tags remove to `dropped`. */
  constructor(resets: readonly Reset[], dropped: DroppedValue[]) {
    this.#dropped = dropped
    for (const reset of resets) {
      let mark = this.#root
      for (const key of withCurrentNames(reset.path)) {
        let next = mark.below.get(key)
        if (!next) {
          next = { below: new Map(), resets: [], used: false }
          mark.below.set(key, next)
        }
        mark = next
      }
      mark.resets.push(reset)
    }
  }

  /** Removes the values that the tags apply to from an earlier model, or from the part of the model at `prefix`. */
  applyTo<T extends Tree>(tree: T, prefix: Path = []): T {
    let mark: Mark | undefined = this.#root
    for (const key of prefix) mark = mark?.below.get(key)
    // `dropBelow` returns a tree of the same kind.
    return mark && mark.below.size > 0 ? (dropBelow(tree, mark, prefix, this.#dropped) as T) : tree
  }

  /** Reports tags that removed nothing, except tags below a tag that removed a value. */
  reportUnused(reporter: Reporter): void {
    const walk = (mark: Mark, path: Path): void => {
      if (mark.used) return
      for (const { span } of mark.resets) reporter.report(withoutEffect, span, { path: path.join('.') })
      for (const [key, next] of mark.below) walk(next, [...path, key])
    }
    walk(this.#root, [])
  }
}

function dropBelow(tree: Tree, mark: Mark, path: Path, dropped: DroppedValue[]): Tree {
  if (tree.kind === 'seq') {
    // The key identifies the item in a list of `KEY=value`.
    const items = tree.items.filter(item => {
      if (item.kind !== 'scalar') return true
      const next = mark.below.get(String(item.value).split('=', 1)[0]!) ?? mark.below.get(String(item.value))
      if (!next || next.resets.length === 0) return true
      next.used = true
      dropped.push({ path: [...path, String(item.value).split('=', 1)[0]!], tree: item, tag: next.resets[0]!.span })
      return false
    })
    return items.length === tree.items.length ? tree : { ...tree, items }
  }
  if (!isMap(tree)) return tree
  let entries: Map<string, Entry> | undefined
  for (const [key, next] of mark.below) {
    const entry = tree.entries.get(key)
    if (!entry) continue
    if (next.resets.length > 0) {
      next.used = true
      dropped.push({ path: [...path, key], key: entry.key, tree: entry.value, tag: next.resets[0]!.span })
      entries ??= new Map(tree.entries)
      entries.delete(key)
      continue
    }
    const value = dropBelow(entry.value, next, [...path, key], dropped)
    if (value === entry.value) continue
    entries ??= new Map(tree.entries)
    entries.set(key, { key: entry.key, value })
  }
  return entries ? { ...tree, entries } : tree
}
