import { PathRules, type RuleStep } from '../../text/path.ts'
import { type Entry, get, type ScalarTree, type Tree } from '../../text/tree.ts'
import { parseVolume } from '../../values/volume.ts'

/** Gives what makes an item of a list unique, or undefined when the item has no such thing (other checks say so). */
type Indexer = (item: Tree) => string | undefined

const text = (tree: Tree | undefined): string | undefined =>
  tree?.kind === 'scalar' && tree.type === 'string' ? (tree.value as string) : undefined

const beforeEquals: Indexer = item => text(item)?.split('=', 1)[0]
const asText: Indexer = item => (item.kind === 'scalar' ? String(item.value) : undefined)
const envFilePath: Indexer = item => text(item) ?? text(get(item, 'path'))
const deviceTarget: Indexer = item => {
  const short = text(item)
  return short === undefined ? text(get(item, 'target')) : (short.split(':')[1] ?? short)
}
const volumeTarget: Indexer = item => {
  const short = text(item)
  if (short === undefined) return text(get(item, 'target'))
  const parsed = parseVolume(short, () => true)
  return parsed.ok ? parsed.value.target : undefined
}
const mountTarget =
  (folder: string): Indexer =>
  item => {
    const target = text(get(item, 'target'))
    // A relative target of a secret is below /run/secrets: `s` and `/run/secrets/s` are one place.
    if (target !== undefined) return folder && !target.startsWith('/') ? `${folder}/${target}` : target
    return `${folder}/${text(item) ?? text(get(item, 'source'))}`
  }
const portKey: Indexer = item => {
  if (item.kind === 'scalar') return String(item.value)
  const part = (key: string, otherwise: string) => {
    const value = get(item, key)
    return value?.kind === 'scalar' ? `${(value as ScalarTree).type === 'string' ? '' : '#'}${value.value}` : otherwise
  }
  return `${part('host_ip', '0.0.0.0')}:${part('published', '-')}:${part('target', '')}/${part('protocol', 'tcp')}`
}

function* rules(): Iterable<readonly [string, Indexer]> {
  const service: Readonly<Record<string, Indexer>> = {
    annotations: beforeEquals,
    'build.args': beforeEquals,
    'build.additional_contexts': beforeEquals,
    'build.tags': beforeEquals,
    'build.labels': beforeEquals,
    cap_add: beforeEquals,
    cap_drop: beforeEquals,
    configs: mountTarget(''),
    'deploy.labels': beforeEquals,
    devices: deviceTarget,
    dns: beforeEquals,
    dns_opt: beforeEquals,
    dns_search: beforeEquals,
    env_file: envFilePath,
    environment: beforeEquals,
    expose: asText,
    labels: beforeEquals,
    links: beforeEquals,
    'networks.*.aliases': beforeEquals,
    'networks.*.link_local_ips': beforeEquals,
    ports: portKey,
    profiles: beforeEquals,
    secrets: mountTarget('/run/secrets'),
    sysctls: beforeEquals,
    tmpfs: beforeEquals,
    volumes: volumeTarget,
  }
  for (const [key, indexer] of Object.entries(service)) yield [`services.*.${key}`, indexer]
  yield ['networks.*.labels', beforeEquals]
  yield ['networks.*.ipam.options', beforeEquals]
}

const UNIQUE = new PathRules<Indexer>(rules())

/** Of the items of a list that stand for one thing keeps the last, at the place of the first (compose-spec.md 1.8). */
export function keepLast(items: readonly Tree[], indexer: Indexer): readonly Tree[] {
  const places = new Map<string, number>()
  const kept: Tree[] = []
  for (const item of items) {
    const key = indexer(item)
    const place = key === undefined ? undefined : places.get(key)
    if (place === undefined) {
      if (key !== undefined) places.set(key, kept.length)
      kept.push(item)
    } else {
      const before = kept[place]!
      kept[place] = before === item ? item : { ...item, replaced: [before.span, ...(before.replaced ?? [])] }
    }
  }
  return kept.length === items.length ? items : kept
}

export const keepLastByName = (items: readonly Tree[]): readonly Tree[] => keepLast(items, beforeEquals)

/** Applies keepLast to every list of the model that has a rule. */
export function removeDuplicates(tree: Tree, step: RuleStep<Indexer> | undefined = UNIQUE.start): Tree {
  if (step === undefined) return tree
  if (tree.kind === 'map') {
    let entries: Map<string, Entry> | undefined
    for (const [key, entry] of tree.entries) {
      const below = PathRules.below(step, key)
      if (below === undefined) continue
      const value = removeDuplicates(entry.value, below)
      if (value === entry.value) continue
      entries ??= new Map(tree.entries)
      entries.set(key, { key: entry.key, value })
    }
    return entries ? { ...tree, entries } : tree
  }
  if (tree.kind === 'seq') {
    const indexer = PathRules.at(step)
    if (!indexer) return tree
    const items = keepLast(tree.items, indexer)
    return items === tree.items ? tree : { ...tree, items }
  }
  return tree
}
