import { compareText, type PlanContext } from '../context.ts'
import type { ConfigMapPlan } from '../plan.ts'
import { contentHash } from './host-files.ts'
import type { Held, HeldByFiles, StoredMount } from './stored-mount.ts'

/**
 * Adds a ConfigMap with files of a service. One that another service has under the same name, which
 * has the hash of the content, belongs to both.
 */
export function addConfigMap({ objects }: PlanContext, plan: ConfigMapPlan): void {
  const other = objects.configMaps.get(plan.name)
  objects.configMaps.set(plan.name, other ? united([other, plan]) : plan)
}

/**
 * Unites ConfigMaps with the same content. Returns a function that gives the mounts of a service
 * the ConfigMaps that are left.
 */
export function shareConfigMaps({ objects }: PlanContext): (mounts: readonly StoredMount[]) => readonly StoredMount[] {
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
  if (kept.size === 0) return mounts => mounts
  return mounts => mounts.map(mount => ({ ...mount, held: withKept(mount.held, kept) }))
}

/** The ConfigMap that stands for another one, and its keys by those of that one. */
interface Kept {
  readonly name: string
  readonly keys: ReadonlyMap<string, string>
}

/** A single file may have any key, since mounts give it its path. Labels of a config are those of its ConfigMap. */
function contentOf({ data, path, annotations }: ConfigMapPlan): string {
  const [bytes, ...others] = Object.values(data)
  const content = bytes && others.length === 0 ? contentHash({ file: bytes }) : `${contentHash(data)} ${others.length}`
  return path?.startsWith('configs.') ? `${content} ${JSON.stringify(annotations ?? {})}` : `${content} {}`
}

const pairs = (from: readonly string[], to: readonly string[]): readonly (readonly [string, string])[] =>
  from.length === 1 ? [[from[0]!, to[0]!]] : from.map(key => [key, key])

/** One of equal ConfigMaps; it belongs to a service only if all do. A config, which has a name of its own, comes first. */
function united(plans: readonly ConfigMapPlan[]): ConfigMapPlan {
  const rank = ({ path = '' }: ConfigMapPlan) => (path.startsWith('configs.') ? 0 : 1)
  const [first, ...others] = plans.toSorted(
    (a, b) => rank(a) - rank(b) || compareText(a.name, b.name) || compareText(a.path ?? '', b.path ?? ''),
  )
  const { service, annotations, ...plan } = first!
  const isOwn = service !== undefined && others.every(other => other.service === service)
  if (isOwn) return first!
  // Annotations of services are not those of what they share.
  return { ...plan, ...(service === undefined && annotations && { annotations }) }
}

function withKept(held: Held, kept: ReadonlyMap<string, Kept>): Held {
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
