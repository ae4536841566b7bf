import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'

/**
 * Segment of the path to a value: the key of a mapping, the name of a list item, or its index if the items have no
 * names.
 */
export type FieldKey = string | { readonly item: string } | number

/**
 * Single value in which two objects differ. A missing value is undefined. If the items of a list have another order,
 * both values are the names of these items.
 */
export interface Difference {
  readonly keys: readonly FieldKey[]
  readonly before: unknown
  readonly after: unknown
}

/** Metadata that the server maintains and that is never part of the desired state. */
const KEPT_BY_SERVER = ['managedFields', 'resourceVersion', 'uid', 'generation', 'creationTimestamp', 'selfLink']

/**
 * Returns the differences between two versions of an object, except in `status` and in metadata that the server
 * manages.
 */
export function differencesOf(live: KubeObject, next: KubeObject): readonly Difference[] {
  const found: Difference[] = []
  compare(withoutServerFields(live), withoutServerFields(next), [], found)
  return found
}

/** Formats a path, such as `spec.template.spec.containers[web].image`; the name in brackets may contain dots. */
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
      compare(ownValue(before, key), ownValue(after, key), [...keys, key], found)
    return
  }
  found.push({ keys, before, after })
}

const ownValue = (map: Readonly<Record<string, unknown>>, key: string) =>
  Object.hasOwn(map, key) ? map[key] : undefined

/**
 * Compares named items by name, so that an item inserted at the front does not make all others differ; compares other
 * items by index. Also compares the order of the named items that both lists have, because containers start in this
 * order, and variables can refer only to earlier ones.
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
    const [was, is] = [sharedNames(left, right), sharedNames(right, left)]
    if (was.some((name, index) => name !== is[index])) found.push({ keys, before: was, after: is })
    return
  }
  for (let index = 0; index < Math.max(before.length, after.length); index++)
    compare(before[index], after[index], [...keys, index], found)
}

const sharedNames = (from: ReadonlyMap<string, unknown>, other: ReadonlyMap<string, unknown>): readonly string[] =>
  [...from.keys()].filter(name => other.has(name))

function byName(items: readonly unknown[]): ReadonlyMap<string, unknown> | undefined {
  const named = new Map<string, unknown>()
  for (const item of items) {
    const name = isMap(item) ? item['name'] : undefined
    if (typeof name !== 'string' || named.has(name)) return undefined
    named.set(name, item)
  }
  return named
}

/** Returns true if a value is a mapping: neither a list nor a scalar. */
export const isMap = (value: unknown): value is Readonly<Record<string, unknown>> =>
  value !== null && typeof value === 'object' && !Array.isArray(value)
