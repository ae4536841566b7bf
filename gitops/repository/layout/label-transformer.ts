import type { KubernetesObject } from '../../../constructs/manifest.ts'
import { at, changed, eachMap, isMap, type JsonMap, listAt } from '../../agents/json-values.ts'
import type { LabelEntry } from './kustomization.ts'
import type { ObjectPair, Transformer } from './transformer.ts'

/** Parts of an object that a label is written to. Each value includes the parts of the values before it. */
const REACHES = ['metadata', 'templates', 'selectors'] as const
type Reach = (typeof REACHES)[number]

const reaches = (reach: Reach, least: Reach) => REACHES.indexOf(reach) >= REACHES.indexOf(least)

const POD_OF_CRON_JOB = ['spec', 'jobTemplate', 'spec', 'template', 'metadata', 'labels'] as const
const WITH_TEMPLATE = new Set(['Deployment', 'StatefulSet', 'DaemonSet', 'Job'])

/**
 * Returns the `labels` entries, for labels that have the same value in all objects. Each label gets the widest reach
 * that leaves the wanted objects unchanged.
 */
export function labelsBetween(pairs: readonly ObjectPair[], wanted: readonly KubernetesObject[]): Transformer {
  const found = new Map<string, { readonly value: string; readonly reach: Reach }>()
  for (const [key, value] of Object.entries(wanted[0]?.metadata.labels ?? {})) {
    if (!pairs.some(([{ metadata }]) => metadata.labels?.[key] !== value)) continue
    const reach = REACHES.findLast(one =>
      wanted.every(object => touched(object, one).every(map => map !== undefined && map[key] === value)),
    )
    if (reach) found.set(key, { value, reach })
  }
  const labels = REACHES.flatMap((reach): readonly LabelEntry[] => {
    const pairs = [...found].filter(([, one]) => one.reach === reach).map(([key, { value }]) => [key, value] as const)
    if (pairs.length === 0) return []
    const reaching = { metadata: {}, templates: { includeTemplates: true }, selectors: { includeSelectors: true } }
    return [{ pairs: Object.fromEntries(pairs.sort(([a], [b]) => (a < b ? -1 : 1))), ...reaching[reach] }]
  })
  return { fields: { labels }, apply: object => withLabels(object, labels) }
}

/**
 * Returns an object with the `labels` entries applied. The object must already have labels at every path that the
 * entries reach.
 */
export function withLabels(object: KubernetesObject, labels: readonly LabelEntry[]): KubernetesObject {
  if (labels.length === 0) return object
  return changed(object, copy => {
    for (const { pairs, includeSelectors, includeTemplates } of labels) {
      const reach = includeSelectors ? 'selectors' : includeTemplates ? 'templates' : 'metadata'
      for (const map of set(copy, reach)) Object.assign(map, pairs)
    }
  })
}

/**
 * Returns every map that any version of kustomize may write a label into; undefined for a map that kustomize would
 * create.
 */
function touched(object: KubernetesObject, reach: Reach): readonly (JsonMap | undefined)[] {
  const maps: unknown[] = [object.metadata.labels]
  if (reaches(reach, 'templates')) {
    if (at(object, 'spec', 'template') !== undefined) maps.push(at(object, 'spec', 'template', 'metadata', 'labels'))
    if (object.kind === 'CronJob')
      maps.push(at(object, 'spec', 'jobTemplate', 'metadata', 'labels'), at(object, ...POD_OF_CRON_JOB))
    for (const claim of listAt(object, 'spec', 'volumeClaimTemplates')) maps.push(at(claim, 'metadata', 'labels'))
  }
  if (reaches(reach, 'selectors')) {
    if (object.kind === 'Service') maps.push(at(object, 'spec', 'selector'))
    eachMap(object, (map, key) => void (key === 'matchLabels' && maps.push(map)))
  }
  return maps.map(map => (isMap(map) ? map : undefined))
}

/** Returns the maps of an object that every version of kustomize writes a label into. */
function set(object: JsonMap, reach: Reach): readonly JsonMap[] {
  const kind = String(object['kind'])
  const maps = [at(object, 'metadata', 'labels')]
  if (reaches(reach, 'templates') && WITH_TEMPLATE.has(kind))
    maps.push(at(object, 'spec', 'template', 'metadata', 'labels'))
  if (reaches(reach, 'templates') && kind === 'CronJob')
    maps.push(at(object, 'spec', 'jobTemplate', 'metadata', 'labels'), at(object, ...POD_OF_CRON_JOB))
  if (reaches(reach, 'selectors')) {
    if (kind === 'Service') maps.push(at(object, 'spec', 'selector'))
    if (kind === 'DaemonSet' || kind === 'PodDisruptionBudget') maps.push(at(object, 'spec', 'selector', 'matchLabels'))
    if (['Deployment', 'StatefulSet', 'NetworkPolicy'].includes(kind))
      eachMap(object['spec'], (map, key) => {
        // All label selectors except namespace selectors.
        if (['selector', 'labelSelector', 'podSelector'].includes(key)) maps.push(map['matchLabels'])
      })
  }
  return maps.filter(isMap)
}
