import { ClusterError, type KubeObject, type ObjectRef } from '../../adapters/kubernetes/cluster.ts'
import { DEVELOPMENT_LABEL, UP_ANNOTATION, UP_LABEL } from '../../constructs/mirror/names.ts'
import type { OperationEvent } from '../events.ts'
import { deleteAndWait, isEnding } from '../objects/removal.ts'
import { UP_MANAGER, type UpRecord, upRecordOf, valueAt } from '../objects/up-record.ts'
import { nameOf } from '../objects/wanted.ts'
import type { Session } from '../session.ts'
import { type MergePatch, patchOf, restoredOwners } from './fields.ts'
import { mirrorsOf } from './find-mirror.ts'
import { scaleField } from './rest.ts'
import { resume } from './scalers.ts'

export interface GivenBack {
  /** False if there was nothing to give back. */
  readonly wasActive: boolean
  /** The application that runs again, as `deployment/api`; undefined where there was none. */
  readonly restored: string | undefined
}

/** The kinds that can have a mirror. */
export const TAKEN_KINDS = [
  { apiVersion: 'apps/v1', kind: 'Deployment' },
  { apiVersion: 'apps/v1', kind: 'StatefulSet' },
  { apiVersion: 'batch/v1', kind: 'Job' },
  { apiVersion: 'batch/v1', kind: 'CronJob' },
] as const

/**
 * Ends a development container from any machine: deletes its mirrors and waits until their Pods are
 * gone, restores the applications and the owners of their fields, then deletes what is left. Each
 * step may be the last one: another call goes on. An application that was made again since is left
 * as it is. With `volumes` its claim is deleted, too.
 */
export async function giveBack(
  session: Session,
  { name }: { readonly name: string },
  { volumes }: { readonly volumes: boolean },
  on: (event: OperationEvent) => void,
): Promise<GivenBack> {
  const { cluster, signal } = session
  const [mirrors, originals] = await Promise.all([mirrorsOf(session, name), originalsOf(session, name)])
  for (const one of mirrors) {
    await deleteAndWait(cluster, one, 'Foreground', { signal })
    on({ type: 'object', action: 'delete', object: nameOf(one) })
  }
  for (const one of originals) {
    await restore(session, one)
    on({ type: 'object', action: 'update', object: nameOf(one) })
  }
  const left = await leftOf(session, name, volumes)
  for (const one of left) {
    await remove(session, one)
    if (one.kind === 'PersistentVolumeClaim') on({ type: 'object', action: 'delete', object: nameOf(one) })
  }
  const main = originals.find(one => !upRecordOf(one)?.isBeside)
  return { wasActive: mirrors.length + originals.length + left.length > 0, restored: main && nameOf(main) }
}

/** The applications that a development container has taken, as they are now. */
async function originalsOf({ cluster, namespace, signal }: Session, name: string): Promise<readonly KubeObject[]> {
  const lists = await Promise.all(
    TAKEN_KINDS.map(kind => cluster.list({ ...kind, namespace, labels: UP_LABEL }, { signal })),
  )
  return lists.flat().filter(one => upRecordOf(one)?.development === name && !isEnding(one))
}

/** Gives an application the values of before, then the owners of its fields: one patch cannot do both. */
async function restore(session: Session, seen: KubeObject): Promise<void> {
  const { cluster, namespace, signal } = session
  const ref = { apiVersion: seen.apiVersion, kind: seen.kind, name: seen.metadata.name, namespace }
  const options = { manager: UP_MANAGER, signal }
  for (;;) {
    const live = await cluster.get(ref, { signal })
    const record = upRecordOf(live)
    if (!live || !record || isEnding(live)) return
    await resume(session, record.paused ?? [])
    try {
      const restored = record.isRestored ? live : await cluster.patch(ref, valuesPatch(live, record), options)
      await cluster.patch(ref, ownersPatch(restored, record), options)
      return
    } catch (error) {
      if (!(error instanceof ClusterError)) throw error
      if (error.failure === 'not-found') return
      if (error.failure !== 'conflict') throw error
    }
  }
}

/** What somebody has scaled since stays as it is. */
function valuesPatch(live: KubeObject, record: UpRecord): MergePatch {
  const scale = scaleField(live)
  const isScaled = valueAt(live, scale.path) !== scale.value
  const values = record.before.filter(({ path }) => !(isScaled && path.join() === scale.path.join()))
  const owners = record.owners.flatMap(owner => {
    const fields = owner.fields.filter(path => !(isScaled && path.join() === scale.path.join()))
    return fields.length > 0 ? [{ ...owner, fields }] : []
  })
  const left: UpRecord = { ...record, owners, isRestored: true }
  return patchOf([
    { path: ['metadata', 'resourceVersion'], value: live.metadata.resourceVersion },
    { path: ['metadata', 'annotations', UP_ANNOTATION], value: JSON.stringify(left) },
    ...values,
  ])
}

function ownersPatch(live: KubeObject, record: UpRecord): MergePatch {
  const owners = upRecordOf(live)?.owners ?? record.owners
  return patchOf([
    { path: ['metadata', 'resourceVersion'], value: live.metadata.resourceVersion },
    { path: ['metadata', 'annotations', UP_ANNOTATION], value: null },
    { path: ['metadata', 'labels', UP_LABEL], value: null },
    { path: ['metadata', 'managedFields'], value: restoredOwners(live.metadata.managedFields ?? [], owners) },
  ])
}

/** What has no Pods and belongs to no application: Secret, Service, Lease; the claim where it is to go. */
async function leftOf(
  { cluster, namespace, signal }: Session,
  name: string,
  volumes: boolean,
): Promise<readonly KubeObject[]> {
  const kinds = [
    { apiVersion: 'v1', kind: 'Service' },
    ...(volumes ? [{ apiVersion: 'v1', kind: 'PersistentVolumeClaim' }] : []),
    { apiVersion: 'v1', kind: 'Secret' },
    { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' },
  ]
  const labels = `${DEVELOPMENT_LABEL}=${name}`
  const lists = await Promise.all(kinds.map(kind => cluster.list({ ...kind, namespace, labels }, { signal })))
  return lists.flat()
}

async function remove(
  { cluster, namespace, signal }: Session,
  { apiVersion, kind, metadata }: KubeObject,
): Promise<void> {
  const ref: ObjectRef = { apiVersion, kind, name: metadata.name, namespace }
  await cluster.delete(ref, { uid: metadata.uid, signal })
}
