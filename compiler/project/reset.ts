import { diagnostic } from '../diagnostics/diagnostic.ts'
import type { Reporter } from '../diagnostics/reporter.ts'
import type { Reset } from '../syntax/parse.ts'
import type { Path } from '../syntax/path.ts'
import { type Entry, isMap, type MapTree, type Tree } from '../syntax/tree.ts'
import { adoptedPath } from './adopted.ts'

const withoutEffect = diagnostic({
  code: 'merge/reset-without-effect',
  severity: 'warning',
  explain:
    '`!reset` and `!override` drop what an earlier file (or an included or extended one) says at the same place. Nothing is there to drop, so the tag does nothing: is a name misspelt, or does the file come first?',
  text: (p: { path: string }) => ({ message: `nothing earlier is defined at \`${p.path}\`` }),
})

/** The `!reset` and `!override` tags of one document, with a note of which ones found something. */
export class Resets {
  readonly #resets: readonly Reset[]
  readonly #used = new Set<Reset>()

  constructor(resets: readonly Reset[]) {
    this.#resets = resets.map(reset => ({ ...reset, path: adoptedPath(reset.path) }))
  }

  get isEmpty(): boolean {
    return this.#resets.length === 0
  }

  /** Drops from a model, or from the part of it that is at `prefix`, what the tags name (compose-spec.md 1.9). */
  applyTo<T extends Tree>(tree: T, prefix: Path = []): T {
    let result: Tree = tree
    for (const reset of this.#resets) {
      if (reset.path.length <= prefix.length || prefix.some((key, index) => reset.path[index] !== key)) continue
      const after = drop(result, reset.path.slice(prefix.length))
      if (after !== result) this.#used.add(reset)
      result = after
    }
    return result as T // a map stays a map, a list a list
  }

  /** Reports the tags that dropped nothing. */
  reportUnused(reporter: Reporter): void {
    for (const reset of this.#resets)
      if (
        !this.#used.has(reset) &&
        !this.#resets.some(other => this.#used.has(other) && covers(other.path, reset.path))
      )
        reporter.report(withoutEffect, reset.span, { path: reset.path.join('.') })
  }
}

const covers = (outer: Path, inner: Path): boolean =>
  outer.length <= inner.length && outer.every((key, index) => key === inner[index])

function drop(tree: Tree, path: Path): Tree {
  const [key, ...rest] = path
  if (key === undefined) return tree
  if (tree.kind === 'seq') {
    // A list of `KEY=value` stands for a mapping; the key names its item.
    if (rest.length > 0) return tree
    const items = tree.items.filter(
      item => !(item.kind === 'scalar' && (item.value === key || String(item.value).startsWith(`${key}=`))),
    )
    return items.length === tree.items.length ? tree : { ...tree, items }
  }
  if (!isMap(tree)) return tree
  const entry = tree.entries.get(key)
  if (!entry) return tree
  if (rest.length === 0) return without(tree, key)
  const value = drop(entry.value, rest)
  if (value === entry.value) return tree
  const entries = new Map<string, Entry>(tree.entries)
  entries.set(key, { key: entry.key, value })
  return { ...tree, entries }
}

function without(map: MapTree, key: string): MapTree {
  const entries = new Map(map.entries)
  entries.delete(key)
  return { ...map, entries }
}
