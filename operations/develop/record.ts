import type { KubeObject, ManagedFields, ObjectRef } from '../../adapters/kubernetes/cluster.ts'

/** The annotation of an application that has a mirror, and of the mirror: what `down` needs to know. */
export const UP_ANNOTATION = 'dev.platform/up'
/** The field manager of everything that `up` and `down` write. */
export const UP_MANAGER = 'devctl-up'
/** Flux leaves an object with this value of the annotation as it is in the cluster. */
export const FLUX_ANNOTATION = 'kustomize.toolkit.fluxcd.io/reconcile'

/** A field that `up` changes in an application, as a path. */
export type FieldPath = readonly string[]

/** Who had a field before, as managed fields name managers. */
export type FieldOwner = Omit<ManagedFields, 'fieldsV1'> & {
  readonly apiVersion?: string
  readonly fields: readonly FieldPath[]
}

/** What was before `up`, and who has taken it. The truth about a mirror, written in the patch that scales the application to zero. */
export interface UpRecord {
  readonly version: 1
  /** The development container. */
  readonly development: string
  /** The folder or repository it is of, where that is known. */
  readonly project?: string
  /** `ann@laptop`. */
  readonly by: string
  /** ISO 8601. */
  readonly since: string
  /** The name of the mirror. */
  readonly mirror: string
  /** True of an application beside the main one, from `services`. */
  readonly isBeside?: boolean
  /** Absent for a container without an application. */
  readonly original?: ObjectRef & { readonly uid: string }
  /** The values of fields that `up` has changed; null where there was none. */
  readonly before: readonly { readonly path: FieldPath; readonly value: unknown }[]
  readonly owners: readonly FieldOwner[]
  /** True when the values are restored, and only the owners of the fields are left to do. */
  readonly isRestored?: boolean
}

/** The record of an application or a mirror; undefined where there is none, or it cannot be read. */
export function recordOf(object: KubeObject | undefined): UpRecord | undefined {
  const text = object?.metadata.annotations?.[UP_ANNOTATION]
  if (text === undefined) return undefined
  try {
    const record = JSON.parse(text) as UpRecord // we have written it
    return record.version === 1 ? record : undefined
  } catch {
    return undefined
  }
}

/** Those who have one of the fields now, without ourselves. */
export function ownersOf({ metadata }: KubeObject, fields: readonly FieldPath[]): readonly FieldOwner[] {
  return (metadata.managedFields ?? []).flatMap(({ fieldsV1, ...entry }) => {
    const own = fields.filter(path => has(fieldsV1, path))
    return own.length === 0 || entry.manager === UP_MANAGER ? [] : [{ ...entry, fields: own }]
  })
}

/** Managed fields in which the owners have their fields again, and we have none. */
export function restoredOwners(
  entries: readonly ManagedFields[],
  owners: readonly FieldOwner[],
): readonly ManagedFields[] {
  const left = entries.filter(({ manager }) => manager !== UP_MANAGER)
  for (const { fields, ...owner } of owners) {
    const at = left.findIndex(one => isSame(one, owner))
    const found = left[at] ?? { fieldsType: 'FieldsV1', ...owner, fieldsV1: {} }
    const given = { ...found, fieldsV1: fields.reduce<unknown>(withField, found.fieldsV1) }
    if (at === -1) left.push(given)
    else left[at] = given
  }
  return left
}

const isSame = (a: Omit<FieldOwner, 'fields'>, b: Omit<FieldOwner, 'fields'>): boolean =>
  a.manager === b.manager &&
  a.operation === b.operation &&
  a.subresource === b.subresource &&
  a.apiVersion === b.apiVersion

function has(fields: unknown, [first, ...rest]: FieldPath): boolean {
  if (first === undefined) return true
  const below = (fields as Readonly<Record<string, unknown>> | undefined)?.[`f:${first}`]
  return below !== undefined && has(below, rest)
}

function withField(fields: unknown, [first, ...rest]: FieldPath): unknown {
  if (first === undefined) return fields
  const all = (fields ?? {}) as Readonly<Record<string, unknown>> // managed fields are maps
  return { ...all, [`f:${first}`]: withField(all[`f:${first}`] ?? {}, rest) }
}

/** The value at a path; undefined where there is none. */
export const valueAt = (whole: unknown, path: FieldPath): unknown =>
  path.reduce<unknown>((at, key) => (at as Readonly<Record<string, unknown>> | undefined)?.[key], whole)

/** A merge patch that sets values. */
export function patchOf(values: readonly { readonly path: FieldPath; readonly value: unknown }[]): MergePatch {
  return values.reduce<MergePatch>((patch, { path, value }) => withValue(patch, path, value), {})
}

/** A merge patch (RFC 7396). */
export type MergePatch = Readonly<Record<string, unknown>>

function withValue(patch: MergePatch, [first, ...rest]: FieldPath, value: unknown): MergePatch {
  if (first === undefined) return patch
  const below = (patch[first] ?? {}) as MergePatch // a map that an earlier path has made
  return { ...patch, [first]: rest.length === 0 ? value : withValue(below, rest, value) }
}
