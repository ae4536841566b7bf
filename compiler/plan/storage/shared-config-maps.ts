import { compareText, type PlanContext } from '../context.ts'
import type { ConfigKey, ConfigMapPlan } from '../plan.ts'
import { contentHash } from './host-files.ts'
import type { Held, HeldByFiles, StoredMount } from './stored-mount.ts'

/**
 * Adds a ConfigMap with files of a service. If another service already has a ConfigMap with the same name, which
 * contains the hash of the content, both services share it.
 */
export function addConfigMap({ objects }: PlanContext, plan: ConfigMapPlan): void {
  const other = objects.configMaps.get(plan.name)
  objects.configMaps.set(plan.name, other ? united([other, plan]) : plan)
}

/** Mounts by service name. */
type MountsByService = ReadonlyMap<string, readonly StoredMount[]>

/** The result of merging ConfigMaps. */
export interface SharedConfigMaps {
  /** The mounts, which refer only to the remaining ConfigMaps. */
  readonly mounts: MountsByService
  /** Returns the key in a remaining ConfigMap that replaces a key of a merged one. Returns other keys unchanged. */
  keyOf(key: ConfigKey): ConfigKey
}

/**
 * Merges ConfigMaps with the same content. If a service mounts a folder and single files of it, takes the files from
 * the ConfigMap of the folder.
 */
export function shareConfigMaps(context: PlanContext, mounts: MountsByService): SharedConfigMaps {
  const kept = uniteEqual(context)
  const united = kept.size === 0 ? mounts : mapMounts(mounts, own => withKept(own, kept))
  return {
    mounts: takeFromFolders(context, united),
    keyOf: one => {
      const by = kept.get(one.name)
      return by ? { name: by.name, key: by.keys.get(one.key)! } : one
    },
  }
}

const mapMounts = (
  mounts: MountsByService,
  change: (own: readonly StoredMount[]) => readonly StoredMount[],
): MountsByService => new Map([...mounts].map(([service, own]) => [service, change(own)]))

function uniteEqual({ objects }: PlanContext): ReadonlyMap<string, Kept> {
  const groups = new Map<string, ConfigMapPlan[]>()
  for (const plan of objects.configMaps.values()) {
    const content = contentOf(plan)
    const group = groups.get(content)
    if (group) group.push(plan)
    else groups.set(content, [plan])
  }
  const kept = new Map<string, Kept>()
  for (const group of groups.values()) {
    if (group.length === 1) continue
    const plan = united(group)
    for (const { name, data } of group) {
      objects.configMaps.delete(name)
      kept.set(name, { name: plan.name, keys: new Map(pairs(Object.keys(data), Object.keys(plan.data))) })
    }
    objects.configMaps.set(plan.name, plan)
  }
  return kept
}

/**
 * Takes single files from the ConfigMap of a folder if the same service also mounts the folder, and removes ConfigMaps
 * that are no longer used. A service that does not mount the folder keeps the ConfigMap of the file. Otherwise a change
 * of another file in the folder would replace the Pods of the service, because the name of a ConfigMap contains a hash
 * of its content. Mounts of other services do not matter, so that a new service does not replace the Pods of existing
 * ones.
 */
function takeFromFolders({ objects }: PlanContext, mounts: MountsByService): MountsByService {
  const replaced = new Set<string>()
  const changed = mapMounts(mounts, own => {
    const maps = hostMapsOf(own, objects.configMaps)
    const kept = new Map(maps.length < 2 ? [] : maps.flatMap(plan => largerOf(plan, maps)))
    for (const name of kept.keys()) replaced.add(name)
    return kept.size === 0 ? own : withKept(own, kept)
  })
  const used = new Set(
    [...changed.values()].flatMap(own => hostMapsOf(own, objects.configMaps).map(({ name }) => name)),
  )
  for (const name of replaced) if (!used.has(name)) objects.configMaps.delete(name)
  return changed
}

/**
 * Returns a list with one pair: the name of `plan`, and the largest other ConfigMap that contains all files of `plan`.
 * Returns an empty list if there is no such ConfigMap.
 */
function largerOf(plan: ConfigMapPlan, maps: readonly ConfigMapPlan[]): readonly (readonly [string, Kept])[] {
  const countOf = ({ data }: ConfigMapPlan) => Object.keys(data).length
  const larger = maps
    .filter(one => countOf(one) > countOf(plan))
    .sort((a, b) => countOf(b) - countOf(a) || compareText(a.name, b.name))
  for (const { name, data } of larger) {
    const keys = keysWithin(plan, data)
    if (keys) return [[plan.name, { name, keys }]]
  }
  return []
}

/** Returns the ConfigMaps of host files among the mounts of a service. */
function hostMapsOf(mounts: readonly StoredMount[], all: ReadonlyMap<string, ConfigMapPlan>): readonly ConfigMapPlan[] {
  const held = mounts.flatMap((one): readonly Held[] => (one.held.kind === 'projected' ? one.held.sources : [one.held]))
  const maps = held.flatMap(one => (one.kind === 'configMap' ? (all.get(one.object) ?? []) : []))
  return [...new Set(maps)].filter(({ path }) => path?.startsWith('services.'))
}

/**
 * Maps the keys of a ConfigMap to the keys with the same values in a larger one; returns undefined if a value is
 * missing there.
 */
function keysWithin({ data }: ConfigMapPlan, larger: ConfigMapPlan['data']): ReadonlyMap<string, string> | undefined {
  const keys = new Map<string, string>()
  for (const [key, bytes] of Object.entries(data)) {
    const isSame = (other: string) => Buffer.compare(larger[other]!, bytes) === 0
    const found = Object.hasOwn(larger, key) && isSame(key) ? key : Object.keys(larger).find(isSame)
    if (found === undefined) return undefined
    keys.set(key, found)
  }
  return keys
}

/**
 * The ConfigMap that replaces a merged one. `keys` maps the keys of the replaced ConfigMap to keys of the replacement.
 */
interface Kept {
  readonly name: string
  readonly keys: ReadonlyMap<string, string>
}

/**
 * Returns a text that is equal for ConfigMaps with the same content. The text does not contain the key of a single
 * file, because the mount sets the path. It contains the labels of a config, because they are part of its ConfigMap.
 */
function contentOf({ data, path, annotations }: ConfigMapPlan): string {
  const [bytes, ...others] = Object.values(data)
  const content = bytes && others.length === 0 ? contentHash({ file: bytes }) : `${contentHash(data)} ${others.length}`
  return path?.startsWith('configs.') ? `${content} ${JSON.stringify(annotations ?? {})}` : `${content} {}`
}

const pairs = (from: readonly string[], to: readonly string[]): readonly (readonly [string, string])[] =>
  from.length === 1 ? [[from[0]!, to[0]!]] : from.map(key => [key, key])

/**
 * Merges equal ConfigMaps into one. The result belongs to a service only if all merged ConfigMaps belong to this
 * service. The ConfigMap of a top-level config takes precedence, because it is named after the config.
 */
function united(plans: readonly ConfigMapPlan[]): ConfigMapPlan {
  const rank = ({ path = '' }: ConfigMapPlan) => (path.startsWith('configs.') ? 0 : 1)
  const [first, ...others] = plans.toSorted(
    (a, b) => rank(a) - rank(b) || compareText(a.name, b.name) || compareText(a.path ?? '', b.path ?? ''),
  )
  const { service, annotations, ...plan } = first!
  const isOwn = service !== undefined && others.every(other => other.service === service)
  if (isOwn) return first!
  // A shared ConfigMap does not get the annotations of one service.
  return { ...plan, ...(service === undefined && annotations && { annotations }) }
}

const withKept = (mounts: readonly StoredMount[], kept: ReadonlyMap<string, Kept>): readonly StoredMount[] =>
  mounts.map(mount => ({ ...mount, held: heldByKept(mount.held, kept) }))

function heldByKept(held: Held, kept: ReadonlyMap<string, Kept>): Held {
  if (held.kind === 'configMap') return filesOf(held, kept)
  if (held.kind !== 'projected') return held
  return { ...held, sources: held.sources.map(source => filesOf(source, kept)) }
}

function filesOf<Files extends HeldByFiles>(held: Files, kept: ReadonlyMap<string, Kept>): Files {
  const other = held.kind === 'configMap' ? kept.get(held.object) : undefined
  if (!other) return held
  const { items, subPath } = held
  return {
    ...held,
    object: other.name,
    ...(items && { items: items.map(item => ({ ...item, key: other.keys.get(item.key) ?? item.key })) }),
    ...(subPath !== undefined && { subPath: other.keys.get(subPath) ?? subPath }),
  }
}
