import { ClusterError, type ManagedFields } from '../../../adapters/kubernetes/cluster.ts'
import { fieldsOf, fromFieldsV1, parsePath, type Record_, readable, toFieldsV1 } from './fields.ts'
import { merge, without } from './merge.ts'

/** A field manager, and the fields of an object that it owns. */
export interface Manager {
  readonly manager: string
  readonly operation: 'Apply' | 'Update'
  readonly apiVersion: string
  readonly subresource?: string
  readonly time: string
  /** Field paths in the format of `fieldsOf`. */
  readonly fields: ReadonlySet<string>
}

export type Writer = Omit<Manager, 'fields'>

export interface Managed {
  readonly object: Record_
  readonly managers: readonly Manager[]
}

/**
 * Applies an object to the live one by the rules of server-side apply: drops the fields that the manager applied before
 * and no other manager owns, and refuses to change fields of other managers unless `force`
 * (https://kubernetes.io/docs/reference/using-api/server-side-apply/). Throws `conflict`.
 */
export function applied(live: Managed, config: Record_, writer: Writer, kind: string, force: boolean): Managed {
  const wanted = new Set(fieldsOf(config, kind).keys())
  const before = live.managers.find(one => isSame(one, writer))?.fields ?? new Set()
  const others = live.managers.filter(one => !isSame(one, writer))
  const gone = new Set([...before].filter(field => !wanted.has(field) && !others.some(other => has(other, field))))
  const object = without(merge(live.object, config, kind), gone, kind)

  const changed = changedFields(live.object, object, kind)
  const conflicts = others.flatMap(other =>
    [...other.fields].filter(field => changed.has(field) && wanted.has(field)).map(field => ({ other, field })),
  )
  if (conflicts.length > 0 && !force) throw toConflict(conflicts)
  return { object, managers: inOrder([...keepOnly(others, object, changed, kind), { ...writer, fields: wanted }]) }
}

/** A change by other means: the writer gets what is changed by it, and all others lose that. */
export function updated(live: Managed, object: Record_, writer: Writer, kind: string): Managed {
  const changed = changedFields(live.object, object, kind)
  const there = fieldsOf(object, kind)
  const before = live.managers.find(one => isSame(one, writer))
  if (changed.size === 0 && live.managers.every(({ fields }) => [...fields].every(field => there.has(field))))
    return { object, managers: live.managers }
  const fields = new Set([...(before?.fields ?? []), ...changed].filter(field => there.has(field)))
  const others = keepOnly(
    live.managers.filter(one => one !== before),
    object,
    changed,
    kind,
  )
  return { object, managers: inOrder(fields.size === 0 ? others : [...others, { ...writer, fields }]) }
}

export function toManagedFields(managers: readonly Manager[]): readonly ManagedFields[] {
  return managers.map(({ fields, ...writer }) => ({
    ...writer,
    fieldsType: 'FieldsV1',
    fieldsV1: toFieldsV1(fields),
  }))
}

/** The managers that an object's managed fields name. */
export function fromManagedFields(entries: readonly ManagedFields[]): readonly Manager[] {
  return entries.map(({ fieldsV1, ...writer }) => ({
    ...(({ fieldsType: _, ...rest }) => rest)(writer as ManagedFields & { readonly fieldsType?: string }),
    ...(({ apiVersion, time }) => ({ apiVersion, time }))(writer as unknown as Writer), // toManagedFields wrote them
    fields: new Set(fromFieldsV1(fieldsV1)),
  }))
}

const isSame = (a: Writer, b: Writer) =>
  a.manager === b.manager && a.operation === b.operation && a.subresource === b.subresource

/** Sorts the managers: those that apply come first, as the server shows them. */
const inOrder = (managers: readonly Manager[]): readonly Manager[] =>
  [...managers].sort((a, b) => (a.operation + a.manager < b.operation + b.manager ? -1 : 1))

/** Returns true if a manager owns a field, or something within it. */
function has({ fields }: Manager, field: string): boolean {
  if (fields.has(field)) return true
  if (!parsePath(field).at(-1)!.startsWith('k:')) return false
  const prefix = `${field.slice(0, -1)},`
  return [...fields].some(other => other.startsWith(prefix))
}

/** The fields that are new, or have another value. */
function changedFields(before: Record_, after: Record_, kind: string): ReadonlySet<string> {
  const old = fieldsOf(before, kind)
  return new Set([...fieldsOf(after, kind)].flatMap(([field, text]) => (old.get(field) === text ? [] : [field])))
}

/**
 * Returns the managers without the fields that were taken from them or no longer exist; drops managers without any
 * field left.
 */
function keepOnly(managers: readonly Manager[], object: Record_, taken: ReadonlySet<string>, kind: string) {
  const there = fieldsOf(object, kind)
  return managers
    .map(one => ({ ...one, fields: new Set([...one.fields].filter(field => there.has(field) && !taken.has(field))) }))
    .filter(({ fields }) => fields.size > 0)
}

function toConflict(conflicts: readonly { readonly other: Manager; readonly field: string }[]): ClusterError {
  const causes = conflicts.map(({ other, field }) => ({
    reason: 'FieldManagerConflict',
    message: `conflict with "${other.manager}"${other.subresource ? ` with subresource "${other.subresource}"` : ''}${other.operation === 'Update' ? ` using ${other.apiVersion}` : ''}`,
    field: readable(field),
  }))
  const count = causes.length === 1 ? '1 conflict' : `${causes.length} conflicts`
  const text = causes.map(({ message, field }) => `${message}: ${field}`).join('\n')
  return new ClusterError('conflict', `Apply failed with ${count}: ${text}`, {
    status: 409,
    reason: 'Conflict',
    causes,
  })
}
