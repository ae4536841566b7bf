import { diagnostic } from '../../diagnostics/diagnostic.ts'
import type { Reporter } from '../../diagnostics/reporter.ts'
import { PathRules, type RuleStep } from '../../text/path.ts'
import type { Span } from '../../text/source.ts'
import { type Entry, get, isNull, type MapTree, type SeqTree, scalarTree, type Tree } from '../../text/tree.ts'
import { pairScalar, treeKey } from './tree-text.ts'
import { keepLastByName } from './unique.ts'

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

type Merger = (base: Tree, override: Tree, context: Context) => Tree

interface Context {
  readonly reporter: Reporter
  readonly step: RuleStep<Merger> | undefined
}

/** Merges a later definition over an earlier one by Compose's rules (compose-spec.md 1.8). Reports `merge/*` and keeps the earlier value there. */
export function mergeModels(base: MapTree, override: MapTree, reporter: Reporter): MapTree {
  return mergeMaps(base, override, { reporter, step: MERGE.start })
}

/** Merges one thing at a path, e.g. a service over the one it extends: `['services', 'web']`. */
export function mergeAt(path: readonly string[], base: Tree, override: Tree, reporter: Reporter): Tree {
  return mergeTrees(base, override, { reporter, step: MERGE.find(path) })
}

function mergeTrees(base: Tree, override: Tree, context: Context): Tree {
  const special = PathRules.at(context.step)
  if (special) return special(base, override, context)
  return mergeByKind(base, override, context)
}

function mergeByKind(base: Tree, override: Tree, context: Context): Tree {
  if (isNull(override)) return base
  if (base.kind === 'map' && override.kind === 'map') return mergeMaps(base, override, context)
  if (base.kind === 'seq' && override.kind === 'seq') return append(base, override)
  if (base.kind === 'scalar') return replaced(base, override)
  return conflict(base, override, context)
}

function mergeMaps(base: MapTree, override: MapTree, context: Context): MapTree {
  if (override.entries.size === 0) return base
  const entries = new Map(base.entries)
  for (const [key, entry] of override.entries) {
    const before = entries.get(key)
    entries.set(
      key,
      before
        ? {
            key: entry.key,
            value: mergeTrees(before.value, entry.value, { ...context, step: PathRules.below(context.step, key) }),
          }
        : entry,
    )
  }
  return { ...base, entries }
}

/** Items that are there already are left out, also where the reference calls them an error afterwards (compose-spec.md 1.19). */
function append(base: SeqTree, override: SeqTree): SeqTree {
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

function replaced(base: Tree, override: Tree): Tree {
  return base === override ? override : { ...override, replaced: [base.span, ...(base.replaced ?? [])] }
}

function conflict(base: Tree, override: Tree, context: Context): Tree {
  context.reporter.report(kindConflict, override.span, { base: kindInWords(base), override: kindInWords(override) }, [
    { span: base.span, message: 'merged with this' },
  ])
  return base
}

const kindInWords = (tree: Tree): string =>
  tree.kind === 'map' ? 'a mapping' : tree.kind === 'seq' ? 'a list' : 'a single value'

// ── Special rules ──

const replace: Merger = (base, override) => replaced(base, override)

/** Both sides as a list of `KEY=value`; of one name the last counts. */
const keyValues: Merger = (base, override) => {
  const items = keepLastByName([...toList(base), ...toList(override)])
  return { kind: 'seq', span: isNull(override) ? base.span : override.span, items }
}

const toSequence: Merger = (base, override) =>
  append(
    { kind: 'seq', span: base.span, items: toList(base) },
    { kind: 'seq', span: override.span, items: toList(override) },
  )

/** A list of strings, from a list, a string or a map (sorted, as the reference does). */
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

/** Lists of names become maps, each name with the value that the list form stands for. */
const asMapping =
  (value: (span: Span) => Tree): Merger =>
  (base, override, context) => {
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
    return left && right ? mergeMaps(left, right, context) : conflict(base, override, context)
  }

const dependencies = asMapping(span => ({
  kind: 'map',
  span,
  entries: new Map([
    ['condition', { key: span, value: scalarTree(span, 'service_started') }],
    ['required', { key: span, value: scalarTree(span, true) }],
  ]),
}))
const names = asMapping(span => scalarTree(span, null))

const build: Merger = (base, override, context) => {
  const toMap = (tree: Tree): MapTree | undefined => {
    if (tree.kind === 'map') return tree
    if (isNull(tree)) return { kind: 'map', span: tree.span, entries: new Map() }
    if (tree.kind !== 'scalar' || tree.type !== 'string') return undefined
    return { kind: 'map', span: tree.span, entries: new Map([['context', { key: tree.span, value: tree }]]) }
  }
  const [left, right] = [toMap(base), toMap(override)]
  return left && right ? mergeMaps(left, right, context) : conflict(base, override, context)
}

const logging: Merger = (base, override, context) => {
  if (isNull(override)) return base
  if (base.kind !== 'map' || override.kind !== 'map') return conflict(base, override, context)
  const driver = (map: MapTree) => {
    const value = get(map, 'driver')
    return value && treeKey(value)
  }
  const [before, after] = [driver(base), driver(override)]
  return before === after || before === undefined || after === undefined
    ? mergeMaps(base, override, context)
    : replaced(base, override)
}

const ulimit: Merger = (base, override, context) =>
  base.kind === 'map' && override.kind === 'map' ? mergeMaps(base, override, context) : replaced(base, override)

/** Address pools with the same subnet are merged, others are added. */
const addressPools: Merger = (base, override, context) => {
  if (isNull(override)) return base
  if (base.kind !== 'seq' || override.kind !== 'seq') return conflict(base, override, context)
  const subnet = (item: Tree) => {
    const value = get(item, 'subnet')
    return value ? treeKey(value) : ''
  }
  const items = [...base.items]
  for (const item of override.items) {
    const place = items.findIndex(before => subnet(before) === subnet(item))
    const before = items[place]
    if (before?.kind === 'map' && item.kind === 'map') items[place] = mergeMaps(before, item, context)
    else items.push(item)
  }
  return { kind: 'seq', span: override.span, items }
}

/** Rules of one path are one rule, of which the later file's counts, at the place of the earlier. */
const rulesByPath: Merger = (base, override, context) => {
  if (base.kind !== 'seq' || override.kind !== 'seq') return mergeByKind(base, override, context)
  const places = new Map(base.items.map((rule, place) => [routeKey(rule), place]))
  const items = [...base.items]
  for (const rule of override.items) {
    const key = routeKey(rule)
    const place = places.get(key)
    // A second rule of the same file for the path stays, and is that file's mistake.
    places.delete(key)
    if (place === undefined) items.push(rule)
    else items[place] = replaced(items[place]!, rule)
  }
  return { kind: 'seq', span: override.span, items }
}

/** What a rule answers to; a rule without a path is like no other. */
const routeKey = (rule: Tree): string =>
  `${treeKey(get(rule, 'path') ?? rule)} ${treeKey(get(rule, 'host') ?? { kind: 'seq', span: rule.span, items: [] })}`

/** A list of rules is the object notation without labels, so the two can be merged. */
const endpoints: Merger = (base, override, context) => {
  const [before, after] = [asObject(base, override), asObject(override, base)]
  return before && after ? mergeMaps(before, after, context) : rulesByPath(base, override, context)
}

/** A list as the object with `rules`, where the other side is such an object; a mapping is itself. */
function asObject(tree: Tree, other: Tree): MapTree | undefined {
  if (tree.kind === 'map') return tree
  if (tree.kind !== 'seq' || get(other, 'rules')?.kind !== 'seq') return undefined
  return { kind: 'map', span: tree.span, entries: new Map([['rules', { key: tree.span, value: tree }]]) }
}

const SERVICE: Readonly<Record<string, Merger>> = {
  annotations: keyValues,
  build,
  'build.args': keyValues,
  'build.additional_contexts': keyValues,
  'build.extra_hosts': toSequence,
  'build.labels': keyValues,
  command: replace,
  depends_on: dependencies,
  'deploy.labels': keyValues,
  dns: toSequence,
  dns_opt: toSequence,
  dns_search: toSequence,
  entrypoint: replace,
  env_file: toSequence,
  environment: keyValues,
  extra_hosts: toSequence,
  'healthcheck.test': replace,
  label_file: toSequence,
  labels: keyValues,
  logging,
  models: names,
  networks: names,
  sysctls: keyValues,
  tmpfs: toSequence,
  'ulimits.*': ulimit,
  'volumes.*.volume.labels': keyValues,
}

const MERGE = new PathRules<Merger>([
  ...['services', 'jobs'].flatMap(section =>
    Object.entries(SERVICE).map(([key, merger]) => [`${section}.*.${key}`, merger] as const),
  ),
  ...['networks', 'volumes', 'secrets', 'configs'].map(section => [`${section}.*.labels`, keyValues] as const),
  ['networks.*.ipam.config', addressPools],
  ['endpoints', endpoints],
  ['endpoints.*', rulesByPath],
])
