import type { Reporter } from '../diagnostics/reporter.ts'
import { interpolate } from '../text/interpolate.ts'
import { PathRules } from '../text/path.ts'
import type { Span } from '../text/source.ts'
import { spanInside } from '../text/span-inside.ts'
import type { Lookup } from '../text/template.ts'
import {
  type Entry,
  get,
  isMap,
  type MapTree,
  type ScalarTree,
  type Tree,
  withEntry,
  withoutKeys,
} from '../text/tree.ts'

/** Matches the names of variables that are set only by a build or a dependency, long after the manifest is read. */
const LATE = /^DEVCTL_(BUILD|DEPENDENCY)_/
const LATE_INSIDE = /\$\{DEVCTL_(BUILD|DEPENDENCY)_\w+\}/
const LATE_VARIABLES = /\$\{(?<name>DEVCTL_(?:BUILD|DEPENDENCY)_\w+)\}/g

/**
 * Paths with special casts. Commands are `verbatim`, because a shell expands them, on this machine or in a container.
 */
const CASTS = new PathRules<'verbatim' | 'text'>([
  ...['deploy', 'destroy'].flatMap(key =>
    verbatim(`${key}.*`, `${key}.*.command`, `${key}.commands.*`, `${key}.commands.*.command`),
  ),
  ['deploy.compose', 'text'],
  ...['dev.*', 'dev.*.services.*'].flatMap(at =>
    verbatim(`${at}.command`, `${at}.command.*`, `${at}.args`, `${at}.args.*`),
  ),
  ...['postStart', 'preStop'].flatMap(hook =>
    verbatim(`dev.*.lifecycle.${hook}.command`, `dev.*.lifecycle.${hook}.command.*`),
  ),
])

function verbatim(...patterns: readonly string[]): readonly (readonly [string, 'verbatim'])[] {
  return patterns.map(pattern => [pattern, 'verbatim'])
}

/**
 * Substitutes the variables of a manifest as Compose does, except in commands and in environments other than the
 * requested one, whose variables need not be set. Reports a value in error, leaves it as written, and adds its tree to
 * `failed`.
 */
export function substituteVariables(
  tree: MapTree,
  environment: string | undefined,
  lookup: Lookup,
  reporter: Reporter,
): { readonly tree: MapTree; readonly failed: ReadonlySet<Tree> } {
  const environments = get(tree, 'environments')
  const others = isMap(environments) ? [...environments.entries.keys()].filter(name => name !== environment) : []
  const asked =
    isMap(environments) && others.length > 0
      ? withEntry(tree, 'environments', withoutKeys(environments, ...others))
      : tree
  // Variables that are set later are replaced with themselves.
  const lookupNow: Lookup = name =>
    lookup(name) ?? (LATE.test(name) ? { value: `\${${name}}`, origin: 'a later step' } : undefined)
  const { tree: result, failed } = interpolate(asked, lookupNow, { casts: CASTS, convert: scalar => scalar }, reporter)
  let whole = result as MapTree // a map stays a map
  for (const path of failed) whole = restore(whole, tree, path) as MapTree // likewise
  const all =
    others.length > 0 && isMap(environments)
      ? withEntry(whole, 'environments', merged(environments, get(whole, 'environments')))
      : whole
  return { tree: all, failed: new Set(failed.flatMap(path => at(tree, path) ?? [])) }
}

/** Returns the node at a path of keys and indices. */
function at(tree: Tree | undefined, [key, ...rest]: readonly string[]): Tree | undefined {
  if (key === undefined || !tree) return tree
  return at(tree.kind === 'seq' ? tree.items[Number(key)] : get(tree, key), rest)
}

/** True if a text contains a variable that only a build or a dependency sets. */
export const isLate = (text: string): boolean => LATE_INSIDE.test(text)

/** Yields the text scalars of a tree. */
export function* textsIn(tree: Tree | undefined): Generator<ScalarTree & { readonly value: string }> {
  switch (tree?.kind) {
    case 'map':
      for (const { value } of tree.entries.values()) yield* textsIn(value)
      break
    case 'seq':
      for (const item of tree.items) yield* textsIn(item)
      break
    case 'scalar':
      if (typeof tree.value === 'string') yield { ...tree, value: tree.value }
  }
}

/** Yields the variables that only a build or a dependency sets, from all texts of a tree. */
export function* lateVariables(tree: Tree | undefined): Generator<{ readonly variable: string; readonly span: Span }> {
  for (const text of textsIn(tree)) {
    if (isUnread(text)) continue
    for (const { 0: whole, index, groups } of text.value.matchAll(LATE_VARIABLES))
      yield { variable: groups!['name']!, span: spanInside(text, index, index + whole.length) }
  }
}

/**
 * Replaces the variables that builds and dependencies set, if their values are in `variables`. Leaves other variables
 * as written.
 */
export const withLateVariables = (text: string, variables: ReadonlyMap<string, string>): string =>
  text.replace(LATE_VARIABLES, (whole, name: string) => variables.get(name) ?? whole)

/**
 * True if a value is not yet known, because its variables were not substituted or will be set only by a build or a
 * dependency. Such a value cannot be checked.
 */
export function isOpen(tree: ScalarTree): boolean {
  return isUnread(tree) || (typeof tree.value === 'string' && LATE_INSIDE.test(tree.value))
}

/**
 * True if a value still has variables that will not be substituted, because the value has an error or belongs to an
 * environment that was not requested.
 */
export function isUnread({ value, template }: ScalarTree): boolean {
  return template === undefined && typeof value === 'string' && value.includes('$')
}

/** Returns the first mapping with the entries of the second one added or replaced. */
function merged(all: MapTree, some: Tree | undefined): MapTree {
  const entries = new Map<string, Entry>(all.entries)
  if (isMap(some)) for (const [name, entry] of some.entries) entries.set(name, entry)
  return { ...all, entries }
}

/**
 * Restores the original value at a path. If the path goes through a list, restores the full list, because its indices
 * have changed.
 */
function restore(tree: Tree, original: Tree, [key, ...rest]: readonly string[]): Tree {
  if (key === undefined || tree.kind !== 'map' || original.kind !== 'map') return original
  const before = original.entries.get(key)
  const now = tree.entries.get(key)
  if (!before) return tree
  return withEntry(tree, key, now ? restore(now.value, before.value, rest) : before.value, before.key)
}
