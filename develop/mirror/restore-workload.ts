import { ClusterError, type KubeObject, type ObjectRef } from '../../adapters/kubernetes/cluster.ts'
import {
  DEVELOPMENT_LABEL,
  mirrorName,
  sessionSecretName,
  UP_ANNOTATION,
  UP_LABEL,
} from '../../constructs/mirror/names.ts'
import { deleteAndWait, isEnding } from '../../environment/apply/removal.ts'
import { isSamePath } from '../../environment/apply/suspend-fields.ts'
import { unlessForbidden } from '../../environment/forbidden.ts'
import { nameOf } from '../../environment/plan/desired-state.ts'
import { readUpRecord, UP_MANAGER, type UpRecord, upRecordOf, valueAt } from '../../environment/record/up-record.ts'
import type { CommonEvent } from '../../project/events.ts'
import type { Session } from '../../project/session.ts'
import { type MergePatch, patchOf, restoredOwners } from './fields.ts'
import { mirrorsOf } from './find-mirror.ts'
import { knownRecord, replaces, unreadableRecord } from './known-record.ts'
import { resume } from './scalers.ts'
import { scaleField } from './suspend-original.ts'

export interface RestoredWorkload {
  /** False if there was nothing to restore. */
  readonly wasActive: boolean
  /** Application that was restored, such as `deployment/api`; undefined if there was none. */
  readonly restored: string | undefined
}

/** Kinds of workloads that can have a mirror. */
const TAKEN_KINDS = [
  { apiVersion: 'apps/v1', kind: 'Deployment' },
  { apiVersion: 'apps/v1', kind: 'StatefulSet' },
  { apiVersion: 'batch/v1', kind: 'Job' },
  { apiVersion: 'batch/v1', kind: 'CronJob' },
] as const

/** An application that was replaced, and the state to restore. */
interface TakenApplication {
  readonly live: KubeObject
  readonly record: UpRecord
}

/**
 * Ends a development container from any machine: deletes its mirrors and waits until their Pods are deleted, restores
 * the applications and the owners of their fields, and then deletes the remaining objects. If it is interrupted after
 * any step, another call continues. An application that was recreated in the meantime is not changed. With `volumes`,
 * also deletes the claim; otherwise reports its name. Throws a UserError, and changes nothing, if the earlier state of
 * an application is unknown.
 */
export async function restoreWorkload(
  session: Session,
  { name }: { readonly name: string },
  { volumes }: { readonly volumes: boolean },
  on: (event: CommonEvent) => void,
): Promise<RestoredWorkload> {
  const { cluster, signal } = session
  const mirrors = await mirrorsOf(session, name)
  const originals = await originalsOf(session, name, mirrors)
  for (const one of mirrors) {
    await markEnding(session, one, originals)
    await deleteAndWait(cluster, one, 'Foreground', { signal })
    on({ type: 'object', action: 'delete', object: nameOf(one) })
  }
  for (const one of originals) {
    await restore(session, one)
    on({ type: 'object', action: 'update', object: nameOf(one.live) })
  }
  const left = await leftOf(session, name, volumes)
  const removed = left.filter(one => volumes || !isClaim(one))
  for (const one of removed) {
    await remove(session, one)
    if (isClaim(one)) on({ type: 'object', action: 'delete', object: nameOf(one) })
  }
  const kept = volumes ? [] : left.filter(isClaim)
  if (kept.length > 0) on({ type: 'note', text: staysText(name, kept.map(nameOf)) })
  const main = originals.find(({ record }) => !record.isBeside)
  return { wasActive: mirrors.length + originals.length + removed.length > 0, restored: main && nameOf(main.live) }
}

/**
 * Returns the applications that a development container has replaced, in their current state, each with the record from
 * which it is restored.
 */
async function originalsOf(
  session: Session,
  name: string,
  mirrors: readonly KubeObject[],
): Promise<readonly TakenApplication[]> {
  const found: TakenApplication[] = []
  for (const live of await candidatesOf(session, mirrors)) {
    const mirror = mirrors.find(one => replaces(one, live))
    const known = knownRecord(live, mirror)
    if (known.kind === 'record' && (mirror || known.record.development === name))
      found.push({ live, record: known.record })
    if (known.kind === 'unreadable' && (mirror || (await hasSession(session, name, live))))
      throw unreadableRecord(live, session.namespace, known.problem)
  }
  return found
}

/**
 * Returns every application that has the label of replaced applications, and the applications that the mirrors replace,
 * even if their labels were removed.
 */
async function candidatesOf(
  { cluster, namespace, signal }: Session,
  mirrors: readonly KubeObject[],
): Promise<readonly KubeObject[]> {
  const lists = await Promise.all(
    TAKEN_KINDS.map(kind => cluster.list({ ...kind, namespace, labels: UP_LABEL }, { signal })),
  )
  const labelled = lists.flat()
  const owners = mirrors
    .flatMap(({ metadata }) => metadata.ownerReferences ?? [])
    .filter(({ uid }) => labelled.every(one => one.metadata.uid !== uid))
  const others = await Promise.all(
    owners.map(({ apiVersion, kind, name }) => cluster.get({ apiVersion, kind, name, namespace }, { signal })),
  )
  const owned = others.filter(one => owners.some(({ uid }) => one?.metadata.uid === uid))
  return [...labelled, ...owned].flatMap(one => (one && !isEnding(one) ? [one] : []))
}

/** Marks a mirror's record as ended by `down`; otherwise an `up` on another machine would recreate the mirror. */
async function markEnding(
  { cluster, namespace, signal }: Session,
  mirror: KubeObject,
  originals: readonly TakenApplication[],
): Promise<void> {
  const record = upRecordOf(mirror) ?? originals.find(({ live }) => replaces(mirror, live))?.record
  const { apiVersion, kind, metadata } = mirror
  const text = JSON.stringify({ ...(record ?? noRecord(metadata.name)), isEnding: true })
  const patch = { metadata: { uid: metadata.uid, annotations: { [UP_ANNOTATION]: text } } }
  try {
    await cluster.patch({ apiVersion, kind, name: metadata.name, namespace }, patch, { manager: UP_MANAGER, signal })
  } catch (error) {
    // The mirror was deleted, or another object now has its name.
    if (!(error instanceof ClusterError) || !['not-found', 'conflict'].includes(error.failure)) throw error
  }
}

const noRecord = (mirror: string): UpRecord => ({
  version: 1,
  development: '',
  by: '',
  since: '',
  mirror,
  before: [],
  owners: [],
})

/**
 * Returns true if an application whose mirror was deleted belongs to a development container: both have the same name,
 * or the Secret with the keys of the container still exists for the application.
 */
async function hasSession({ cluster, namespace, signal }: Session, name: string, live: KubeObject): Promise<boolean> {
  if (live.metadata.name === name) return true
  const secret = sessionSecretName(mirrorName(live.metadata.name))
  const there = await cluster.get({ apiVersion: 'v1', kind: 'Secret', name: secret, namespace }, { signal })
  return there?.metadata.labels?.[DEVELOPMENT_LABEL] === name
}

/** Restores the earlier values of an application, and then the owners of its fields; a single patch cannot do both. */
async function restore(session: Session, { live: seen, record: known }: TakenApplication): Promise<void> {
  const { cluster, namespace, signal } = session
  const ref = { apiVersion: seen.apiVersion, kind: seen.kind, name: seen.metadata.name, namespace }
  const options = { manager: UP_MANAGER, signal }
  const hadNone = readUpRecord(seen).kind === 'none'
  for (;;) {
    const live = await cluster.get(ref, { signal })
    if (!live || isEnding(live) || live.metadata.uid !== seen.metadata.uid) return
    const found = readUpRecord(live)
    // Another `down` has already restored it.
    if (found.kind === 'none' && !hadNone) return
    const record = found.kind === 'record' ? found.record : known
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

/**
 * Returns the patch that restores the values from before `up`. Keeps the current scale if it is no longer the one that
 * `up` has set.
 */
function valuesPatch(live: KubeObject, record: UpRecord): MergePatch {
  const scale = scaleField(live)
  const isScaled = valueAt(live, scale.path) !== scale.value
  const values = record.before.filter(({ path }) => !(isScaled && isSamePath(path, scale.path)))
  const owners = record.owners.flatMap(owner => {
    const fields = owner.fields.filter(path => !(isScaled && isSamePath(path, scale.path)))
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

const isClaim = ({ kind }: KubeObject): boolean => kind === 'PersistentVolumeClaim'

const staysText = (dev: string, claims: readonly string[]): string => {
  const [stay, them] = claims.length === 1 ? ['stays', 'it'] : ['stay', 'them']
  return `${claims.join(', ')} with the files ${stay}: \`devctl down ${dev} --volumes\` deletes ${them}`
}

/**
 * Returns the objects of a development container that remain after its mirrors are deleted: Service, Secret, Lease and
 * claim. Claims that the user may not list are omitted, or cause an error if `volumes` is true.
 */
async function leftOf(
  { cluster, namespace, signal }: Session,
  name: string,
  volumes: boolean,
): Promise<readonly KubeObject[]> {
  const kinds = [
    { apiVersion: 'v1', kind: 'Service' },
    { apiVersion: 'v1', kind: 'Secret' },
    { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' },
  ]
  const labels = `${DEVELOPMENT_LABEL}=${name}`
  const listOf = (kind: { readonly apiVersion: string; readonly kind: string }) =>
    cluster.list({ ...kind, namespace, labels }, { signal })
  const claims = listOf({ apiVersion: 'v1', kind: 'PersistentVolumeClaim' })
  // Claims that the user may not list are kept, but with `volumes`, this is an error.
  const lists = await Promise.all([...kinds.map(listOf), volumes ? claims : unlessForbidden(claims, [])])
  return lists.flat()
}

async function remove(
  { cluster, namespace, signal }: Session,
  { apiVersion, kind, metadata }: KubeObject,
): Promise<void> {
  const ref: ObjectRef = { apiVersion, kind, name: metadata.name, namespace }
  await cluster.delete(ref, { uid: metadata.uid, signal })
}
