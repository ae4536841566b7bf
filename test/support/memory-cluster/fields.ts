import { isSet, isWhole, type Key, keysOf } from './kinds.ts'

/** A place in an object in the steps of `fieldsV1`: `f:spec`, `k:{"name":"web"}`, `v:"x"`. */
export type Path = readonly string[]

/** Metadata fields that no manager owns. */
const UNOWNED = new Set(
  'name namespace uid resourceVersion generation creationTimestamp deletionTimestamp deletionGracePeriodSeconds managedFields'.split(
    ' ',
  ),
)

export type Record_ = Record<string, unknown>

export const isRecord = (value: unknown): value is Record_ =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * The fields of an object that can have an owner, each with its value as text: those with a value of their own, and the
 * items of lists that have keys, with an empty value. The key is the path as JSON.
 */
export function fieldsOf(object: Record_, kind: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  const visit = (value: unknown, path: Path, names: readonly string[]): void => {
    if (isRecord(value) && !(isWhole(names) && names.length > 1) && Object.keys(value).length > 0) {
      for (const [name, child] of Object.entries(value)) visit(child, [...path, `f:${name}`], [...names, name])
      return
    }
    const keys = Array.isArray(value) ? keysOf(names, kind) : undefined
    if (Array.isArray(value) && value.length > 0 && (keys || isSet(names))) {
      for (const item of value) {
        const step = keys ? stepOf(item, keys) : `v:${JSON.stringify(item)}`
        found.set(JSON.stringify([...path, step]), '')
        if (keys) visit(withKeys(item, keys), [...path, step], names)
      }
      return
    }
    found.set(JSON.stringify(path), textOf(value))
  }
  for (const [name, value] of Object.entries(object)) {
    if (name === 'apiVersion' || name === 'kind') continue
    if (name !== 'metadata') visit(value, [`f:${name}`], [name])
    else
      for (const [field, child] of Object.entries(value as Record_)) // metadata is a map
        if (!UNOWNED.has(field)) visit(child, ['f:metadata', `f:${field}`], ['metadata', field])
  }
  return found
}

/** `k:{"containerPort":80,"protocol":"TCP"}`. */
export function stepOf(item: unknown, keys: readonly Key[]): string {
  const fields = withKeys(item, keys)
  return `k:${JSON.stringify(Object.fromEntries(keys.map(({ name }) => [name, fields[name]])))}`
}

/** The item with the keys that it leaves to their defaults. */
function withKeys(item: unknown, keys: readonly Key[]): Record_ {
  const defaults = keys.flatMap(({ name, default: value }) => (value === undefined ? [] : [[name, value]]))
  return { ...Object.fromEntries(defaults), ...(isRecord(item) ? item : {}) }
}

/** Returns the same text for equal values, regardless of the order of their fields. */
export function textOf(value: unknown): string {
  return JSON.stringify(value, (_, one: unknown) =>
    isRecord(one) ? Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1))) : one,
  )
}

/** The tree that `metadata.managedFields` shows. */
export function toFieldsV1(fields: Iterable<string>): unknown {
  const root: Record_ = {}
  for (const field of fields) {
    const path = parsePath(field)
    let at = root
    for (const step of path) {
      at[step] ??= {}
      at = at[step] as Record_ // made one line above
    }
    if (!path.at(-1)!.startsWith('f:')) at['.'] = {}
  }
  return root
}

/** The fields of a tree that `toFieldsV1` made. */
export function fromFieldsV1(tree: unknown, path: Path = []): readonly string[] {
  const steps = Object.entries(tree as Record_) // it is made of maps
  const own = steps.length === 0 || (path.length > 0 && '.' in (tree as Record_) && !path.at(-1)!.startsWith('f:'))
  const below = steps.flatMap(([step, child]) => (step === '.' ? [] : fromFieldsV1(child, [...path, step])))
  return own ? [JSON.stringify(path), ...below] : below
}

/** Formats a field as messages show it: `.spec.containers[name="web"].image`. */
export function readable(field: string): string {
  return parsePath(field)
    .map(step => {
      if (step.startsWith('f:')) return `.${step.slice(2)}`
      if (step.startsWith('v:')) return `[=${step.slice(2)}]`
      const keys = Object.entries(JSON.parse(step.slice(2)) as Record_) // written by stepOf
      return `[${keys.map(([name, value]) => `${name}=${JSON.stringify(value)}`).join(',')}]`
    })
    .join('')
}

// fieldsOf wrote it.
export const parsePath = (field: string): Path => JSON.parse(field) as Path
