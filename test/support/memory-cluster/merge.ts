import { isRecord, type Path, type Record_, stepOf } from './fields.ts'
import { isSet, isWhole, keysOf } from './kinds.ts'

/**
 * The object with what an applied one says put over it: maps and lists with keys field by field, all else as a whole.
 */
export function merge(live: Record_, applied: Record_, kind: string): Record_ {
  const visit = (before: unknown, after: unknown, names: readonly string[]): unknown => {
    if (isRecord(before) && isRecord(after) && !(isWhole(names) && names.length > 1)) {
      const merged = { ...before }
      for (const [name, value] of Object.entries(after)) merged[name] = visit(before[name], value, [...names, name])
      return merged
    }
    if (!Array.isArray(before) || !Array.isArray(after)) return after
    if (isSet(names)) return [...before, ...after.filter(item => !before.includes(item))]
    const keys = keysOf(names, kind)
    if (!keys) return after
    const nameOf = (item: unknown) => stepOf(item, keys)
    const old = new Map(before.map(item => [nameOf(item), item]))
    const added = new Set(after.map(nameOf))
    // The order of what is applied counts; items of others stay behind those that they stood behind.
    const merged = after.map(item => visit(old.get(nameOf(item)) ?? {}, item, names))
    const others = before.filter(item => !added.has(nameOf(item)))
    return [...merged, ...others]
  }
  return visit(live, applied, []) as Record_ // of two maps comes a map
}

/**
 * The object without some fields, and without the maps and lists that are empty then. `gone` are paths as `fieldsOf`
 * gives them.
 */
export function without(object: Record_, gone: ReadonlySet<string>, kind: string): Record_ {
  const isGone = (path: Path) => gone.has(JSON.stringify(path))
  const visit = (value: unknown, path: Path, names: readonly string[]): unknown => {
    if (isGone(path)) return undefined
    if (isRecord(value)) {
      const left = Object.entries(value).flatMap(([name, child]) => {
        const kept = visit(child, [...path, `f:${name}`], [...names, name])
        return kept === undefined ? [] : [[name, kept]]
      })
      return left.length === 0 && Object.keys(value).length > 0 ? undefined : Object.fromEntries(left)
    }
    if (!Array.isArray(value)) return value
    const keys = keysOf(names, kind)
    if (!keys && !isSet(names)) return value
    const left = value.flatMap(item => {
      const step = keys ? stepOf(item, keys) : `v:${JSON.stringify(item)}`
      if (isGone([...path, step])) return []
      if (!keys) return [item]
      // The rest of an item keeps its keys.
      const kept = visit(item, [...path, step], names)
      const name = Object.fromEntries(
        keys.flatMap(key => (isRecord(item) && key.name in item ? [[key.name, item[key.name]]] : [])),
      )
      return [{ ...name, ...(isRecord(kept) ? kept : {}) }]
    })
    return left.length === 0 && value.length > 0 ? undefined : left
  }
  return visit(object, [], []) as Record_ // its name and kind are never gone
}

/** RFC 7396. */
export function mergePatched(live: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) return patch
  const merged: Record_ = isRecord(live) ? { ...live } : {}
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete merged[name]
    else merged[name] = mergePatched(merged[name], value)
  }
  return merged
}
