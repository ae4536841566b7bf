import type { KubeObject } from '../cluster/cluster.ts'
import { isMap, type Key } from './comparison.ts'
import { MANAGER } from './labels.ts'

/** Who has set a value of an object last, other than devctl. */
export interface Owner {
  readonly manager: string
  /** ISO 8601. */
  readonly time?: string
}

/**
 * Who else has the value at a path, as the object's managed fields tell
 * (https://kubernetes.io/docs/reference/using-api/server-side-apply/#field-management); undefined when devctl alone has it, or nobody does.
 */
export function ownerOf({ metadata }: KubeObject, keys: readonly Key[]): Owner | undefined {
  const entries = (metadata.managedFields ?? []).filter(
    ({ manager, fieldsV1 }) => manager !== MANAGER && !manager.startsWith(`${MANAGER}-`) && has(fieldsV1, keys),
  )
  const last = entries.sort((a, b) => ((a.time ?? '') < (b.time ?? '') ? 1 : -1))[0]
  return last && { manager: last.manager, ...(last.time && { time: last.time }) }
}

/**
 * Whether a value is ours to decide: what is wanted says it, or devctl has set it before and it goes now. Items of lists that are told apart by something else than a name
 * count as ours where any of the list is.
 */
export function isOurs(wanted: KubeObject, live: KubeObject, keys: readonly Key[]): boolean {
  // A Secret is written as text, and kept in base64.
  const said = keys[0] === 'data' && wanted['stringData'] !== undefined ? ['stringData', ...keys.slice(1)] : keys
  if (valueAt(wanted, said) !== undefined) return true
  return (live.metadata.managedFields ?? []).some(
    ({ manager, subresource, fieldsV1 }) =>
      manager === MANAGER && subresource === undefined && has(fieldsV1, keys, true),
  )
}

function valueAt(whole: unknown, keys: readonly Key[]): unknown {
  let at = whole
  for (const key of keys) {
    if (Array.isArray(at)) at = typeof key === 'number' ? at[key] : at.find(one => isMap(one) && isNamed(one, key))
    else at = isMap(at) && typeof key === 'string' ? at[key] : undefined
  }
  return at
}

const isNamed = (item: Readonly<Record<string, unknown>>, key: Key): boolean =>
  typeof key === 'object' && item['name'] === key.item

/** Fields have keys with a prefix: `f:` a field, `k:` an item by its keys, `v:` by its value. What is below a field that is owned as a whole is owned, too. */
function has(fields: unknown, keys: readonly Key[], isGenerous = false): boolean {
  let at = fields
  for (const key of keys) {
    if (typeof at !== 'object' || at === null) return false
    const found = Object.entries(at).find(([name]) => isKey(name, key))
    if (!found) return isGenerous && typeof key !== 'string' && Object.keys(at).some(isUnnamedItem)
    at = found[1]
    if (Object.keys(at as object).length === 0) return true // the values of managed fields are objects
  }
  return true
}

/** An item of a list that is told apart by something else than its name: a port, a mount. */
const isUnnamedItem = (name: string): boolean => name.startsWith('k:') && !('name' in JSON.parse(name.slice(2)))

function isKey(name: string, key: Key): boolean {
  if (typeof key === 'string') return name === `f:${key}`
  if (typeof key === 'number' || !name.startsWith('k:')) return false
  const keys: unknown = JSON.parse(name.slice(2))
  return typeof keys === 'object' && keys !== null && 'name' in keys && keys.name === key.item
}
