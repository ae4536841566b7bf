import { parseJson } from '../../adapters/json/parse-json.ts'
import type { KubeObject, ManagedFields, ObjectRef } from '../../adapters/kubernetes/cluster.ts'
import { MIRROR_LABEL, UP_ANNOTATION } from '../../constructs/mirror/names.ts'
import { type FieldPath, fieldProblem, isSamePath, scalePath } from '../apply/suspend-fields.ts'
import { upRecord } from './up-record.validators.ts'

/** Field manager of everything that `up` and `down` write. */
export const UP_MANAGER = 'devctl-up'

/** Previous owner of fields, in the format of managed fields. */
export type FieldOwner = Omit<ManagedFields, 'fieldsV1'> & {
  readonly apiVersion?: string
  readonly fields: readonly FieldPath[]
}

/**
 * State of an application before `up`, with the user who ran it. This is the authoritative record of the mirror that
 * stands in for the application, written in the same patch that scales the application to zero.
 */
export interface UpRecord {
  readonly version: 1
  /** Name of the development container. */
  readonly development: string
  /** Folder or repository of the development container, if known. */
  readonly project?: string
  /** User such as `ann@laptop`. */
  readonly by: string
  /** Time in ISO 8601. */
  readonly since: string
  /** Name of the mirror. */
  readonly mirror: string
  /** True for an additional application from `services`, besides the main one. */
  readonly isBeside?: boolean
  /** Original application; absent for a container without an application. */
  readonly original?: ObjectRef & { readonly uid: string }
  /** Values of the fields before `up` changed them; null if a field had no value. */
  readonly before: readonly { readonly path: FieldPath; readonly value: unknown }[]
  readonly owners: readonly FieldOwner[]
  /** Paused KEDA scalers, each with its previous annotation; null if it had none. */
  readonly paused?: readonly { readonly name: string; readonly before: string | null }[]
  /** True if the values are restored, and only the field owners remain to be restored. */
  readonly isRestored?: boolean
  /** True in the copy of a mirror that `down` is about to delete. */
  readonly isEnding?: boolean
}

/** Record of `up` as found in an application or a mirror. Any user who may edit the object can change it. */
export type FoundRecord =
  | { readonly kind: 'none' }
  | { readonly kind: 'record'; readonly record: UpRecord }
  /** `problem` is a clause that describes the error in the record. */
  | { readonly kind: 'unreadable'; readonly problem: string }

/** Reads the record of an application or a mirror, and checks that `down` can restore all values in the record. */
export function readUpRecord(object: KubeObject | undefined): FoundRecord {
  const text = object?.metadata.annotations?.[UP_ANNOTATION]
  if (!object || text === undefined) return { kind: 'none' }
  const read = parseJson(text, upRecord)
  if (!read.ok) return { kind: 'unreadable', problem: read.problem }
  const record = read.value as UpRecord // its schema says the same
  const isOfMirror = object.metadata.labels?.[MIRROR_LABEL] !== undefined
  const problem = valueProblem(record, isOfMirror ? record.original?.kind : object.kind)
  return problem === undefined ? { kind: 'record', record } : { kind: 'unreadable', problem }
}

/** Returns the record of an application or a mirror; undefined if it does not exist or cannot be read. */
export function upRecordOf(object: KubeObject | undefined): UpRecord | undefined {
  const found = readUpRecord(object)
  return found.kind === 'record' ? found.record : undefined
}

/** Returns true for a mirror that `down` is deleting; any other deleted mirror was deleted by hand. */
export const isEndedByDown = (mirror: KubeObject): boolean => upRecordOf(mirror)?.isEnding ?? false

/** Returns true for an application that a mirror stands in for, even if its record cannot be read. */
export const isTaken = (object: KubeObject | undefined): boolean => readUpRecord(object).kind !== 'none'

function valueProblem({ before, owners }: UpRecord, kind: string | undefined): string | undefined {
  if (kind === undefined) return before.length === 0 ? undefined : '`original` is missing'
  if (!before.some(({ path }) => isSamePath(path, scalePath(kind))))
    return `\`before\` has no \`${scalePath(kind).join('.')}\``
  const paths = owners.flatMap(({ fields }) => fields).map(path => ({ path, value: null }))
  return [...before, ...paths].map(one => fieldProblem(kind, one)).find(one => one !== undefined)
}

/** Returns the value at a path; undefined if the path does not exist. */
export const valueAt = (whole: unknown, path: FieldPath): unknown =>
  path.reduce<unknown>((at, key) => (at as Readonly<Record<string, unknown>> | undefined)?.[key], whole)
