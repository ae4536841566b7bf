import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { MANAGER } from '../labels.ts'
import { type Difference, differencesOf, type FieldKey, isMap } from './comparison.ts'

/** Manager, other than devctl, that last set a value of an object. */
export interface Owner {
  readonly manager: string
  /** Time in ISO 8601. */
  readonly time?: string
}

/**
 * Returns the last manager, other than devctl, of the value at a path, from the object's managed fields
 * (https://kubernetes.io/docs/reference/using-api/server-side-apply/#field-management); undefined if only devctl, or no
 * manager, owns it.
 */
export function ownerOf(live: KubeObject, keys: readonly FieldKey[]): Owner | undefined {
  const entries = (live.metadata.managedFields ?? []).filter(
    ({ manager, fieldsV1 }) =>
      manager !== MANAGER && !manager.startsWith(`${MANAGER}-`) && has(fieldsV1, live, keys) === true,
  )
  const last = entries.sort((a, b) => ((a.time ?? '') < (b.time ?? '') ? 1 : -1))[0]
  return last && { manager: last.manager, ...(last.time && { time: last.time }) }
}

/**
 * Returns true if devctl controls a value: the wanted object sets it, or devctl set it before and now removes it. If
 * the items of a list have no names, devctl controls an item if it owns any item of the list.
 */
export function isOurs(wanted: KubeObject, live: KubeObject, keys: readonly FieldKey[]): boolean {
  // A Secret can be written as text (`stringData`), and is stored in base64.
  const said = keys[0] === 'data' && wanted['stringData'] !== undefined ? ['stringData', ...keys.slice(1)] : keys
  if (valueAt(wanted, said) !== undefined) return true
  return (live.metadata.managedFields ?? []).some(
    ({ manager, subresource, fieldsV1 }) =>
      manager === MANAGER && subresource === undefined && has(fieldsV1, live, keys) !== false,
  )
}

/**
 * Returns the differences that an apply makes to fields that devctl owns; `next` is the object as the server would
 * store it. Values that controllers set, or that an admission webhook sets at each request, are not included.
 */
export const ownDifferences = (wanted: KubeObject, live: KubeObject, next: KubeObject): readonly Difference[] =>
  differencesOf(live, next).filter(({ keys }) => isOurs(wanted, live, keys))

const valueAt = (whole: unknown, keys: readonly FieldKey[]): unknown => keys.reduce(valueIn, whole)

function valueIn(whole: unknown, key: FieldKey): unknown {
  if (Array.isArray(whole))
    return typeof key === 'number' ? whole[key] : whole.find(one => isMap(one) && isNamed(one, key))
  return isMap(whole) && typeof key === 'string' ? whole[key] : undefined
}

const isNamed = (item: Readonly<Record<string, unknown>>, key: FieldKey): boolean =>
  typeof key === 'object' && item['name'] === key.item

/**
 * Returns true if the managed fields of an object contain the value at a path. Returns `list` if the value is in a list
 * whose items the fields do not identify by name, so that only some item of the list is known to be contained. Keys of
 * managed fields have a prefix: `f:` for a field, `k:` for an item by the key fields of its list, `v:` for an item by
 * its value, `i:` for an item by its index. Everything below a fully owned field is owned, too.
 */
function has(fields: unknown, live: KubeObject, keys: readonly FieldKey[]): boolean | 'list' {
  let at = fields
  let value: unknown = live
  for (const key of keys) {
    if (typeof at !== 'object' || at === null) return false
    value = valueIn(value, key)
    const found = Object.entries(at).find(([name]) => isStep(name, key, value))
    if (!found) return typeof key !== 'string' && Object.keys(at).some(isUnnamedItem) ? 'list' : false
    at = found[1]
    if (Object.keys(at as object).length === 0) return true // the values of managed fields are objects
  }
  return true
}

/** Returns true for a list item that is identified by something other than its name, such as a port or a mount. */
const isUnnamedItem = (name: string): boolean => name.startsWith('k:') && !('name' in JSON.parse(name.slice(2)))

/** Returns true if a key of managed fields refers to the same value as a key of the object. */
function isStep(step: string, key: FieldKey, value: unknown): boolean {
  if (typeof key === 'string') return step === `f:${key}`
  const rest = step.slice(2)
  if (step.startsWith('i:')) return typeof key === 'number' && rest === String(key)
  if (step.startsWith('v:')) return JSON.parse(rest) === value
  if (!step.startsWith('k:')) return false
  const entries = Object.entries<unknown>(JSON.parse(rest))
  if (value === undefined)
    return typeof key === 'object' && entries.some(([name, one]) => name === 'name' && one === key.item)
  return isMap(value) && entries.every(([name, one]) => value[name] === one)
}
