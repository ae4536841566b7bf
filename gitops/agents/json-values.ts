import type { KubernetesObject } from '../../constructs/manifest.ts'

export type JsonMap = Record<string, unknown>

export const isMap = (value: unknown): value is JsonMap =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Returns a copy of an object, modified by `change`. */
export function changed(object: KubernetesObject, change: (copy: JsonMap) => void): KubernetesObject {
  // Copied through JSON, because an object may contain the same map several times, and a structured clone preserves
  // such sharing.
  const copy: KubernetesObject & JsonMap = JSON.parse(JSON.stringify(object))
  change(copy)
  return copy
}

/** Calls `visit` for every map in a value, with its key; for an item of a list, the key of the list. */
export function eachMap(value: unknown, visit: (map: JsonMap, key: string) => void, key = ''): void {
  if (Array.isArray(value)) for (const item of value) eachMap(item, visit, key)
  else if (isMap(value)) {
    visit(value, key)
    for (const [inner, one] of Object.entries(value)) eachMap(one, visit, inner)
  }
}

/** Returns the value at the end of a path of keys; undefined if the path does not exist. */
export function at(value: unknown, ...keys: readonly string[]): unknown {
  return keys.reduce((found: unknown, key) => (isMap(found) ? found[key] : undefined), value)
}

/** Returns the items of the list at the end of a path of keys; empty if the path has no list. */
export function listAt(value: unknown, ...keys: readonly string[]): readonly unknown[] {
  const found = at(value, ...keys)
  return Array.isArray(found) ? found : []
}
