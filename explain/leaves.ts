import { type FieldKey, isMap, pathText } from '../environment/plan/comparison.ts'

/** Scalar value of an object, or an empty mapping or list. */
export interface Leaf {
  readonly keys: readonly FieldKey[]
  /** Readable path, such as `spec.template.spec.containers[web].image`. */
  readonly path: string
  readonly value: unknown
}

/**
 * Returns the leaves of an object by path, in the order of the object. If `like` is given, a list item gets the name of
 * the item of `like` that it replaces.
 */
export function leavesOf(object: unknown, like?: unknown): ReadonlyMap<string, Leaf> {
  const found = new Map<string, Leaf>()
  collect(object, like, [], found)
  return found
}

function collect(value: unknown, like: unknown, keys: readonly FieldKey[], found: Map<string, Leaf>): void {
  if (value === undefined) return
  const others = membersOf(like)
  const members = Array.isArray(value) && Array.isArray(like) ? paired(membersOf(value), others) : membersOf(value)
  for (const [key, inner] of members)
    collect(inner, others.find(([one]) => sameKey(one, key))?.[1], [...keys, key], found)
  if (members.length > 0) return
  const path = pathText(keys)
  found.set(path, { keys, path, value })
}

type Member = readonly [FieldKey, unknown]

/**
 * Returns the items with the keys of the items in `others` that they replace. New and missing items are matched in
 * their order, because an item whose identifying field has changed often keeps its other fields. If the numbers of new
 * and missing items differ, no item replaces another one.
 */
function paired(items: readonly Member[], others: readonly Member[]): readonly Member[] {
  const lacks = (list: readonly Member[]) => (member: Member) => !list.some(([key]) => sameKey(key, member[0]))
  const added = items.filter(lacks(others))
  const removed = others.filter(lacks(items))
  if (added.length !== removed.length) return items
  return items.map(item => {
    const index = added.indexOf(item)
    return index < 0 ? item : [removed[index]![0], item[1]]
  })
}

/** Returns the members of a mapping or list with their keys; empty for a scalar. */
export function membersOf(value: unknown): readonly Member[] {
  if (Array.isArray(value)) {
    const names = itemNames(value)
    return value.map((item, index) => [names?.[index] ?? index, item])
  }
  return isMap(value) ? Object.entries(value) : []
}

/** Fields that identify the items of a list, in order of precedence. */
const IDENTITIES = ['name', 'mountPath', 'containerPort', 'port', 'key', 'ip', 'host', 'path', 'topologyKey'] as const

/** Returns the names of the items; undefined if no field identifies all of them. */
function itemNames(items: readonly unknown[]): readonly { readonly item: string }[] | undefined {
  for (const field of IDENTITIES) {
    const names = items.map(item => (isMap(item) ? item[field] : undefined))
    const all = names.every(name => typeof name === 'string' || typeof name === 'number')
    if (all && new Set(names).size === items.length) return names.map(name => ({ item: String(name) }))
  }
  return undefined
}

/** Returns true if a path is at or below another one. */
export function isBelow(keys: readonly FieldKey[], prefix: readonly FieldKey[]): boolean {
  return prefix.length <= keys.length && prefix.every((key, index) => sameKey(key, keys[index]!))
}

const sameKey = (one: FieldKey, other: FieldKey): boolean =>
  typeof one === 'object' && typeof other === 'object' ? one.item === other.item : one === other

/** Returns the value at a path; undefined if there is none. */
export function valueAt(value: unknown, keys: readonly FieldKey[]): unknown {
  return keys.reduce((at, key) => membersOf(at).find(([one]) => sameKey(one, key))?.[1], value)
}
