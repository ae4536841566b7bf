import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { isMap } from './comparison.ts'

/**
 * Returns an approximation of the object after an apply: the wanted object merged into the live one, without defaults
 * and conversions. Used if the server cannot do a dry run because of an admission webhook.
 */
export function overlay(live: KubeObject, wanted: KubeObject): KubeObject {
  return laid(live, wanted) as KubeObject // both are objects, so that the result has the fields of one
}

function laid(below: unknown, above: unknown): unknown {
  if (Array.isArray(below) && Array.isArray(above)) return laidLists(below, above)
  if (!isMap(below) || !isMap(above)) return above
  const keys = new Set([...Object.keys(below), ...Object.keys(above)])
  return Object.fromEntries(
    [...keys].map(key => [key, Object.hasOwn(above, key) ? laid(below[key], above[key]) : below[key]]),
  )
}

/**
 * Merges named items by name, like the server: items of other managers stay where they are, and wanted items have the
 * wanted order.
 */
function laidLists(below: readonly unknown[], above: readonly unknown[]): readonly unknown[] {
  if (above.map(nameOf).includes(undefined) || below.map(nameOf).includes(undefined))
    return above.map((item, index) => laid(below[index], item))
  const known = new Map(below.map(item => [nameOf(item), item]))
  const names = new Set(above.map(nameOf))
  const shared = above.filter(item => known.has(nameOf(item))).map(item => laid(known.get(nameOf(item)), item))
  const kept = below.map(item => (names.has(nameOf(item)) ? (shared.shift() ?? item) : item))
  return [...kept, ...shared, ...above.filter(item => !known.has(nameOf(item)))]
}

/**
 * Returns the value that identifies a list item: its mount path or container port, else its name; undefined if it has
 * none of them. The mount path comes first, because several mounts can use the name of the same volume.
 */
function nameOf(item: unknown): string | undefined {
  if (!isMap(item)) return undefined
  const name = item['mountPath'] ?? item['containerPort'] ?? item['name']
  return typeof name === 'string' || typeof name === 'number' ? String(name) : undefined
}
