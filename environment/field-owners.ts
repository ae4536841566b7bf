import type { KubeObject } from '../cluster/cluster.ts'
import type { Key } from './comparison.ts'
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
    ({ manager, fieldsV1 }) => manager !== MANAGER && has(fieldsV1, keys),
  )
  const last = entries.sort((a, b) => ((a.time ?? '') < (b.time ?? '') ? 1 : -1))[0]
  return last && { manager: last.manager, ...(last.time && { time: last.time }) }
}

/** Fields have keys with a prefix: `f:` a field, `k:` an item by its keys, `v:` by its value. What is below a field that is owned as a whole is owned, too. */
function has(fields: unknown, keys: readonly Key[]): boolean {
  let at = fields
  for (const key of keys) {
    if (typeof at !== 'object' || at === null) return false
    const found = Object.entries(at).find(([name]) => isKey(name, key))
    if (!found) return false
    at = found[1]
    if (Object.keys(at as object).length === 0) return true // the values of managed fields are objects
  }
  return true
}

function isKey(name: string, key: Key): boolean {
  if (typeof key === 'string') return name === `f:${key}`
  if (typeof key === 'number' || !name.startsWith('k:')) return false
  const keys: unknown = JSON.parse(name.slice(2))
  return typeof keys === 'object' && keys !== null && 'name' in keys && keys.name === key.item
}
