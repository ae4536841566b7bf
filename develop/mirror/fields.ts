import type { KubeObject, ManagedFields } from '../../adapters/kubernetes/cluster.ts'
import type { FieldPath } from '../../environment/apply/suspend-fields.ts'
import { type FieldOwner, UP_MANAGER } from '../../environment/record/up-record.ts'

/** Returns the current managers of the fields, except `up`. */
export function ownersOf({ metadata }: KubeObject, fields: readonly FieldPath[]): readonly FieldOwner[] {
  return (metadata.managedFields ?? []).flatMap(({ fieldsV1, ...entry }) => {
    const own = fields.filter(path => has(fieldsV1, path))
    return own.length === 0 || entry.manager === UP_MANAGER ? [] : [{ ...entry, fields: own }]
  })
}

/**
 * Returns the managed fields of an object after a restore: without the entries of `up`, and with `owners` as the
 * managers of their fields again.
 */
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

/** Returns a merge patch that sets each value at its path. */
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
