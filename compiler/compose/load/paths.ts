import { isAbsolute, join } from 'node:path/posix'
import type { CompilerHost } from '../../host.ts'
import { PathRules, type RuleStep } from '../../text/path.ts'
import { type Entry, get, isMap, type MapTree, type ScalarTree, type Tree, withEntry } from '../../text/tree.ts'

type Resolve = (tree: Tree, base: PathBase) => Tree

/** What relative paths are relative to. */
export interface PathBase {
  /** Absolute. */
  readonly directory: string
  readonly host: CompilerHost
}

const WINDOWS_ABSOLUTE = /^(?:[A-Za-z]:[\\/]|\\\\)/
const REMOTE_CONTEXT = /^(?:https?:\/\/|git:\/\/|ssh:\/\/|github\.com\/|git@|service:)/

/** Makes the paths of a canonical model absolute (compose-spec.md 1.15). */
export function resolvePaths(model: MapTree, base: PathBase): MapTree {
  return walk(model, RULES.start, base) as MapTree // a map stays a map
}

/** A path with `~` for the home folder, made absolute. */
export function absolutePath(path: string, base: PathBase): string {
  const expanded = expandHome(path, base)
  if (expanded === '' || isAbsolute(expanded)) return expanded
  return join(base.directory, expanded).replace(/(.)\/$/, '$1')
}

function expandHome(path: string, base: PathBase): string {
  const home = base.host.homeDirectory
  return path.startsWith('~') && home !== undefined ? join(home, path.slice(1)).replace(/(.)\/$/, '$1') : path
}

function walk(tree: Tree, step: RuleStep<Resolve> | undefined, base: PathBase): Tree {
  if (step === undefined) return tree
  const rule = PathRules.at(step)
  if (rule) return rule(tree, base)
  if (tree.kind === 'map') {
    let entries: Map<string, Entry> | undefined
    for (const [key, entry] of tree.entries) {
      const value = walk(entry.value, PathRules.below(step, key), base)
      if (value === entry.value) continue
      entries ??= new Map(tree.entries)
      entries.set(key, { key: entry.key, value })
    }
    return entries ? { ...tree, entries } : tree
  }
  if (tree.kind === 'seq') {
    const items = tree.items.map((item, index) => walk(item, PathRules.below(step, String(index)), base))
    return items.some((item, index) => item !== tree.items[index]) ? { ...tree, items } : tree
  }
  return tree
}

const onText =
  (change: (path: string, base: PathBase) => string): Resolve =>
  (tree, base) => {
    if (tree.kind !== 'scalar' || tree.type !== 'string') return tree
    const path = change(tree.value as string, base)
    return path === tree.value ? tree : ({ ...tree, value: path } satisfies ScalarTree)
  }

const absolute = onText(absolutePath)
/** Left alone where it is absolute on Windows, too. The empty path is the folder itself. */
const hostPath = onText((path, base) =>
  WINDOWS_ABSOLUTE.test(path) ? path : path === '' ? base.directory : absolutePath(path, base),
)
const context = onText((path, base) =>
  path.includes('://') || REMOTE_CONTEXT.test(path) ? path : absolutePath(path, base),
)
const linkResolved = onText((path, base) => base.host.realPath(absolutePath(path, base)))

const mount: Resolve = (tree, base) => {
  const type = get(tree, 'type')
  const source = get(tree, 'source')
  if (!isMap(tree) || !source || type?.kind !== 'scalar' || type.value !== 'bind') return tree
  return withEntry(tree, 'source', hostPath(source, base))
}

/** The device of a local volume that is a bind mount. */
const volume: Resolve = (tree, base) => {
  const options = get(tree, 'driver_opts')
  const device = get(options, 'device')
  const is = (value: Tree | undefined, text: string) => value?.kind === 'scalar' && value.value === text
  if (!isMap(tree) || !isMap(options) || !device || !is(get(tree, 'driver'), 'local') || !is(get(options, 'o'), 'bind'))
    return tree
  return withEntry(tree, 'driver_opts', withEntry(options, 'device', hostPath(device, base)))
}

const CONTAINER: Readonly<Record<string, Resolve>> = {
  'env_file.*.path': absolute,
  'label_file.*': absolute,
  'volumes.*': mount,
}

const RULES = new PathRules<Resolve>([
  ...Object.entries({
    ...CONTAINER,
    'build.context': context,
    'build.additional_contexts.*': context,
    'build.ssh.*': hostPath,
    'extends.file': absolute,
    'develop.watch.*.path': linkResolved,
  }).map(([path, rule]) => [`services.*.${path}`, rule] as const),
  ...Object.entries(CONTAINER).map(([path, rule]) => [`services.*.pre_start.*.${path}`, rule] as const),
  ['configs.*.file', hostPath],
  ['secrets.*.file', hostPath],
  ['volumes.*', volume],
])
