import type { KubernetesObject } from '../../constructs/manifest.ts'

export type JsonMap = Record<string, unknown>

export const isMap = (value: unknown): value is JsonMap =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A copy of an object that `change` has changed. */
export function changed(object: KubernetesObject, change: (copy: JsonMap) => void): KubernetesObject {
  // Through text: an object may have one map in several places, and a structured clone has it so,
  // too.
  const copy: KubernetesObject & JsonMap = JSON.parse(JSON.stringify(object))
  change(copy)
  return copy
}

/**
 * Calls `visit` for every map of a value with its key; that of the items of a list is the list's.
 */
export function eachMap(value: unknown, visit: (map: JsonMap, key: string) => void, key = ''): void {
  if (Array.isArray(value)) for (const item of value) eachMap(item, visit, key)
  else if (isMap(value)) {
    visit(value, key)
    for (const [inner, one] of Object.entries(value)) eachMap(one, visit, inner)
  }
}

/** The value at the end of a path of keys; undefined where the path breaks off. */
export function at(value: unknown, ...keys: readonly string[]): unknown {
  return keys.reduce((found: unknown, key) => (isMap(found) ? found[key] : undefined), value)
}

/** The items of the list at the end of a path of keys; none where there is no list. */
export function listAt(value: unknown, ...keys: readonly string[]): readonly unknown[] {
  const found = at(value, ...keys)
  return Array.isArray(found) ? found : []
}
