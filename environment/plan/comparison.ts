import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'

/**
 * A step on the way to a value: the key of a mapping, the name of a list's item, or its index where
 * items have no names.
 */
export type FieldKey = string | { readonly item: string } | number

/** A single value of an object that differs. A missing value is undefined. */
export interface Difference {
  readonly keys: readonly FieldKey[]
  readonly before: unknown
  readonly after: unknown
}

/** Metadata that the server maintains, and that is never wanted. */
const KEPT_BY_SERVER = ['managedFields', 'resourceVersion', 'uid', 'generation', 'creationTimestamp', 'selfLink']

/**
 * Returns the differences between a live object and the result of a dry run. Does not compare the status and the
 * server's own metadata.
 */
export function differencesOf(live: KubeObject, next: KubeObject): readonly Difference[] {
  const found: Difference[] = []
  compare(withoutServerFields(live), withoutServerFields(next), [], found)
  return found
}

/** `spec.template.spec.containers[web].image`; what is in brackets may have dots. */
export function pathText(keys: readonly FieldKey[]): string {
  return keys
    .map((key, index) => {
      if (typeof key === 'number') return `[${key}]`
      if (typeof key === 'object') return `[${key.item}]`
      if (/[^\w-]/.test(key)) return `[${key}]`
      return index === 0 ? key : `.${key}`
    })
    .join('')
}

function withoutServerFields({ status: _, metadata, ...rest }: KubeObject): unknown {
  const kept = Object.entries(metadata).filter(([key]) => !KEPT_BY_SERVER.includes(key))
  return { ...rest, metadata: Object.fromEntries(kept) }
}

function compare(before: unknown, after: unknown, keys: readonly FieldKey[], found: Difference[]): void {
  if (Object.is(before, after)) return
  if (Array.isArray(before) && Array.isArray(after)) {
    compareLists(before, after, keys, found)
    return
  }
  if (isMap(before) && isMap(after)) {
    for (const key of new Set([...Object.keys(before), ...Object.keys(after)]))
      compare(before[key], after[key], [...keys, key], found)
    return
  }
  found.push({ keys, before, after })
}

/**
 * Items that have names are compared by name: one more at the front does not make all others
 * differ.
 */
function compareLists(
  before: readonly unknown[],
  after: readonly unknown[],
  keys: readonly FieldKey[],
  found: Difference[],
): void {
  const left = byName(before)
  const right = byName(after)
  if (left && right) {
    for (const item of new Set([...left.keys(), ...right.keys()]))
      compare(left.get(item), right.get(item), [...keys, { item }], found)
    return
  }
  for (let index = 0; index < Math.max(before.length, after.length); index++)
    compare(before[index], after[index], [...keys, index], found)
}

function byName(items: readonly unknown[]): ReadonlyMap<string, unknown> | undefined {
  const named = new Map<string, unknown>()
  for (const item of items) {
    const name = isMap(item) ? item['name'] : undefined
    if (typeof name !== 'string' || named.has(name)) return undefined
    named.set(name, item)
  }
  return named
}

/** True if a value is a mapping of an object: neither a list nor a plain value. */
export const isMap = (value: unknown): value is Readonly<Record<string, unknown>> =>
  value !== null && typeof value === 'object' && !Array.isArray(value)
