/** Part of a cluster object: plain JSON with fields that devctl does not have to know. */
export type Json = Readonly<Record<string, unknown>>

/** Returns the map in a field; empty if the field is missing. */
export const mapIn = (whole: Json | undefined, field: string): Json => (whole?.[field] ?? {}) as Json // of Kubernetes' structures

/** Returns the list of maps in a field; empty if the field is missing. */
export const listIn = (whole: Json | undefined, field: string): readonly Json[] =>
  (whole?.[field] ?? []) as readonly Json[] // of Kubernetes' structures

/** Returns a copy of an object without undefined fields and without empty maps and lists at the top level. */
export function compact<T extends object>(whole: T): T {
  const kept = Object.entries(whole).filter(([, value]) => value !== undefined && !isEmpty(value))
  return Object.fromEntries(kept) as T // the fields that are left out are optional
}

const isEmpty = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && Object.keys(value).length === 0

/**
 * Merges two lists by a key field: an item of `over` replaces the item of `list` with the same key. Items of `over`
 * with other keys are appended.
 */
export function mergeBy(field: string, list: readonly Json[], over: readonly Json[]): readonly Json[] {
  const added = new Map(over.map(item => [item[field], item]))
  const merged = list.map(item => {
    const other = added.get(item[field])
    added.delete(item[field])
    return other ?? item
  })
  return [...merged, ...added.values()]
}
