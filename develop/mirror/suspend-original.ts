import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { UP_ANNOTATION, UP_LABEL } from '../../constructs/mirror/names.ts'
import {
  type FieldPath,
  isSamePath,
  RECONCILE,
  SUSPEND,
  scalePath,
  WHEN_SCALED,
} from '../../environment/apply/suspend-fields.ts'
import { isManagedByFlux } from '../../environment/plan/managed-by.ts'
import { type UpRecord, upRecordOf, valueAt } from '../../environment/record/up-record.ts'
import { type MergePatch, ownersOf, patchOf } from './fields.ts'

/** A field of an application, and its value while a mirror replaces the application. */
export interface SuspendedField {
  readonly path: FieldPath
  readonly value: unknown
}

/**
 * Returns the field that scales an application to zero or suspends it. Other programs can change this field at any
 * time, whereas the other fields of a suspension have to be set only once.
 */
export function scaleField({ kind }: Pick<KubeObject, 'kind'>): SuspendedField {
  const path = scalePath(kind)
  return { path, value: path === SUSPEND ? true : 0 }
}

/**
 * Returns the fields that suspend an application. These fields remove the application's Pods and prevent Flux from
 * changing the application. They also keep the claims of a StatefulSet whose policy is to delete claims when it is
 * scaled down.
 */
function restingFields(live: KubeObject): readonly SuspendedField[] {
  const deletes =
    live.kind === 'StatefulSet' && [valueAt(live, WHEN_SCALED), beforeOf(live, WHEN_SCALED)].includes('Delete')
  return [
    scaleField(live),
    ...(deletes ? [{ path: WHEN_SCALED, value: 'Retain' }] : []),
    ...(isManagedByFlux(live) ? [{ path: RECONCILE, value: 'disabled' }] : []),
  ]
}

/**
 * Returns the record of an application in its current state. A value that an earlier `up` has set does not count as the
 * application's own; a value that was changed afterwards does.
 */
export function recordFor(
  live: KubeObject | undefined,
  about: Omit<UpRecord, 'version' | 'before' | 'owners' | 'original'>,
): UpRecord {
  if (!live) return { version: 1, ...about, before: [], owners: [] }
  const { apiVersion, kind, metadata } = live
  const { name, namespace, uid = '' } = metadata
  const earlier = upRecordOf(live)
  const goesOn = earlier !== undefined && !earlier.isRestored && earlier.by === about.by
  const fields = restingFields(live)
  return {
    version: 1,
    ...about,
    ...(goesOn && { since: earlier.since }),
    original: { apiVersion, kind, name, namespace, uid },
    before: fields.map(({ path, value }) => ({ path, value: ownValue(live, path, value) })),
    owners: byManager(fields.flatMap(({ path }) => ownOwners(live, path))),
  }
}

/** Returns the merge patch that suspends an application and stores the record in it, in a single step. */
export function restingPatch(live: KubeObject, record: UpRecord): MergePatch {
  const { resourceVersion } = live.metadata
  return patchOf([
    { path: ['metadata', 'resourceVersion'], value: resourceVersion },
    { path: ['metadata', 'labels', UP_LABEL], value: 'true' },
    { path: ['metadata', 'annotations', UP_ANNOTATION], value: JSON.stringify(record) },
    ...restingFields(live),
  ])
}

/** Returns a workload with the number of Pods that it would have without its mirror. */
export function beforeUp(live: KubeObject): KubeObject {
  const { path } = scaleField(live)
  const replicas = beforeOf(live, path)
  if (path[1] !== 'replicas' || replicas === undefined || valueAt(live, path) !== 0) return live
  return { ...live, spec: { ...(live['spec'] as object), replicas } } // a workload's spec
}

const beforeOf = (live: KubeObject, path: FieldPath): unknown =>
  upRecordOf(live)?.before.find(one => isSamePath(one.path, path))?.value

function ownValue(live: KubeObject, path: FieldPath, resting: unknown): unknown {
  const now = valueAt(live, path)
  const before = beforeOf(live, path)
  return before !== undefined && now === resting ? before : (now ?? null)
}

function ownOwners(live: KubeObject, path: FieldPath): UpRecord['owners'] {
  const now = ownersOf(live, [path])
  if (now.length > 0) return now
  return (upRecordOf(live)?.owners ?? []).flatMap(owner =>
    owner.fields.some(one => isSamePath(one, path)) ? [{ ...owner, fields: [path] }] : [],
  )
}

/** Merges the entries of each manager into one entry with all its fields. */
function byManager(owners: UpRecord['owners']): UpRecord['owners'] {
  const found = new Map<string, UpRecord['owners'][number]>()
  for (const { fields, ...owner } of owners) {
    const key = JSON.stringify([owner.manager, owner.operation, owner.subresource])
    found.set(key, { ...owner, fields: [...(found.get(key)?.fields ?? []), ...fields] })
  }
  return [...found.values()]
}
