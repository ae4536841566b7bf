import type { KubeObject, ManagedFields, ObjectRef } from '../../adapters/kubernetes/cluster.ts'
import { UP_ANNOTATION } from '../../constructs/mirror/names.ts'

/** The field manager of everything that `up` and `down` write. */
export const UP_MANAGER = 'devctl-up'
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
  /** Scalers of KEDA that are paused, with the annotation that each had before; null: none. */
  readonly paused?: readonly { readonly name: string; readonly before: string | null }[]
  /** True when the values are restored, and only the owners of the fields are left to do. */
  readonly isRestored?: boolean
}

/** The record of an application or a mirror; undefined where there is none, or it cannot be read. */
export function upRecordOf(object: KubeObject | undefined): UpRecord | undefined {
  const text = object?.metadata.annotations?.[UP_ANNOTATION]
  if (text === undefined) return undefined
  try {
    const record = JSON.parse(text) as UpRecord // we have written it
    return record.version === 1 ? record : undefined
  } catch {
    return undefined
  }
}

/** The value at a path; undefined where there is none. */
export const valueAt = (whole: unknown, path: FieldPath): unknown =>
  path.reduce<unknown>((at, key) => (at as Readonly<Record<string, unknown>> | undefined)?.[key], whole)
