import { type CallOptions, type Cluster, ClusterError, type KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { isWorkload, KINDS, type Kind, kindsOf } from '../../constructs/kinds.ts'
import type { Clock } from '../clock.ts'
import { unlessForbidden } from '../forbidden.ts'
import { environmentSelector } from '../labels.ts'
import { listEnvironment } from '../plan/changes.ts'
import { nameOf, serviceOf } from '../plan/desired-state.ts'
import { foreignContent } from '../plan/foreign-content.ts'
import { type NamespaceState, namespaceState, takesAllAlong } from '../plan/namespace.ts'
import { keepsItself } from '../plan/prune-rules.ts'
import { inParallel } from '../pool.ts'
import { deleteRecord, isOwn, type RecordedKind, readRecord, unitedKinds } from '../record/record.ts'
import { deleteKept } from '../record/secret-marks.ts'
import { isDependant } from '../status/owners.ts'
import type { Holder } from './held-lease.ts'
import { isLocked, type LeaseInput, withLease } from './lease.ts'
import { deleteObject, gone, isEnding } from './removal.ts'
import { isMirror } from './suspended.ts'

export interface DestroyEnvironmentInput {
  readonly cluster: Cluster
  readonly environment: string
  readonly namespace: string
  readonly holder: Holder
  /** True to delete PersistentVolumeClaims, too. */
  readonly volumes: boolean
  /** True to wait until everything has been deleted, including Pods. */
  readonly wait: boolean
  /**
   * True if the namespace is known not to exist. The user may have no permission to read it, and then gets 403 for
   * every object in it.
   */
  readonly isNamespaceGone?: boolean
  /**
   * Selects the objects to delete from all objects of the environment, which continues to exist. If absent, all objects
   * are deleted. An error that the function throws stops the destroy.
   */
  readonly select?: (objects: readonly KubeObject[], namespace: NamespaceState) => Promise<readonly KubeObject[]>
  /**
   * Called first, while the Lease is held; if it throws, nothing is deleted. Also called if the record was deleted with
   * the namespace: without the record, nobody can tell whether the call is needed.
   */
  readonly before?: (signal: AbortSignal, namespace: NamespaceState) => Promise<void>
}

export interface DestroyContext {
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly events: {
    /** Called with the objects to delete and the objects to keep. */
    planned(doomed: readonly KubeObject[], kept: readonly KubeObject[]): void
    /** Returns true if cluster-scoped objects may be deleted, too. If the function is absent, they are deleted. */
    mayDelete?(ofCluster: readonly KubeObject[]): Promise<boolean>
    /** Called when the deletion of an object has been requested. */
    deleted(object: string): void
    /** Called when another process holds the Lease because it is working on the environment, or died while doing so. */
    locked(holder: string): void
  }
}

export interface DestroyResult {
  /** Names of the deleted objects, such as `deployment/web`. */
  readonly deleted: readonly string[]
  /** Names of the objects that were kept: claims, and objects annotated to be kept. */
  readonly kept: readonly string[]
  /** Objects that were not deleted because of their content, with the reason. */
  readonly held: readonly { readonly object: string; readonly why: string }[]
  /** True if there was nothing to delete. */
  readonly wasEmpty: boolean
  /** True if the namespace did not exist. */
  readonly isNamespaceGone: boolean
}

const recorded = ({ apiVersion, kind }: Kind): RecordedKind => ({ apiVersion, kind })

/** Kinds to search for even if the record of the environment was deleted or lost. */
const KNOWN = KINDS.filter(({ isExtra }) => !isExtra).map(recorded)
/**
 * Optional kinds to search for even if the record of the environment was deleted or lost. The user may have no
 * permission to list them.
 */
const EXTRA = KINDS.filter(({ isExtra }) => isExtra).map(recorded)

/**
 * Deletion order: routes first, so that no request reaches workloads that are being deleted; then workloads; then the
 * objects that workloads need; claims last.
 */
const ORDER = [...kindsOf('route').toReversed(), ...kindsOf('workload')].map(({ kind }) => kind).concat('Service')

/**
 * Deletes the objects of an environment in reverse order of creation, and the record last, so that a destroy that was
 * killed can be run again. Deletes claims only with `volumes`. Keeps objects annotated `dev.platform/policy: keep`, and
 * Namespaces and CustomResourceDefinitions that contain objects outside the environment. Objects in a namespace that is
 * being deleted count neither as deleted nor as kept. Throws a UserError, or the signal's abort reason.
 */
export async function destroyEnvironment(
  input: DestroyEnvironmentInput,
  world: DestroyContext,
): Promise<DestroyResult> {
  const { cluster, environment, namespace, holder, wait } = input
  const { clock, signal, events } = world
  const options: CallOptions = { signal }
  const isKnownGone = input.isNamespaceGone === true
  const [record, locked, state] = isKnownGone
    ? [undefined, false, 'gone' as const]
    : await Promise.all([
        readRecord(cluster, environment, namespace, options),
        isLocked(cluster, environment, namespace, options),
        namespaceState(cluster, namespace, options),
      ])
  const isNamespaceGone = state === 'gone'
  const kinds = unitedKinds(KNOWN, record?.kinds ?? [])
  const holding = HOLDING.filter(one => !kinds.some(({ kind, namespace }) => kind === one.kind && namespace === null))
  const isForgotten = !record && takesAllAlong(state)
  const [listed, beside, elsewhere] = await Promise.all([
    isKnownGone ? [] : listEnvironment(cluster, environment, namespace, kinds, options),
    otherObjects(cluster, environment, namespace, record ? holding : [...holding, ...EXTRA], options),
    isForgotten ? forgottenObjects(cluster, environment, namespace, options) : [],
  ])
  const found = withoutRepeats([...listed, ...beside, ...elsewhere])
  const stays = (object: KubeObject) =>
    keepsItself(object) || (object.kind === 'PersistentVolumeClaim' && !input.volumes)
  // A mirror belongs to its workload, but it is listed, too, so that waiting for its deletion covers its Pods.
  const all = found.filter(object => !isOwn(object, environment) && (!isDependant(object) || isMirror(object)))
  const ours = input.select ? await input.select(all, state) : all
  const beyond = all.filter(object => !ours.includes(object))
  const goesAlong = ({ metadata }: KubeObject) => takesAllAlong(state) && metadata.namespace === namespace
  const staying = ours.filter(object => stays(object) && !isEnding(object) && !goesAlong(object))
  const going = ours.filter(object => !stays(object) || isEnding(object))
  const of = { environment, namespace, volumes: input.volumes }
  const held = new Map(
    await inParallel(
      going.filter(object => !isEnding(object)),
      async object => [object, await foreignContent(cluster, object, of, options)] as const,
    ),
  )
  const isHeld = (object: KubeObject) => held.get(object) !== undefined
  const kept = [...staying, ...going.filter(isHeld)]
  const doomed = going.filter(object => !isHeld(object))
  const result = async (objects: readonly KubeObject[]) => {
    const isStill = await stillThere(cluster, namespace, [...staying, ...held.keys()], options)
    return {
      deleted: objects.map(nameOf),
      kept: staying.filter(isStill).map(nameOf),
      held: [...held].flatMap(([object, why]) =>
        why !== undefined && isStill(object) ? [{ object: nameOf(object), why }] : [],
      ),
      isNamespaceGone,
    }
  }
  if (doomed.length === 0 && (input.select || (!record && !locked))) {
    if (isForgotten) await input.before?.(signal, state)
    if (wait && !isKnownGone) await podsGone(cluster, input, [...beyond, ...kept], signal)
    return { ...(await result([])), wasEmpty: true }
  }
  events.planned(doomed, kept)
  const ofCluster = doomed.filter(object => object.metadata.namespace === undefined && !isEnding(object))
  if (ofCluster.length > 0 && events.mayDelete && !(await events.mayDelete(ofCluster)))
    throw new UserError('nothing was destroyed')

  const isMoot = async () => takesAllAlong(await namespaceState(cluster, namespace, options))
  const lease = { cluster, environment, namespace, holder, clock, signal, waiting: events.locked, isMoot }
  const deleted: KubeObject[] = []
  const act = async (active: AbortSignal) => {
    await input.before?.(active, state)
    for (const group of inOrder(doomed))
      await inParallel(group, async object => {
        // Another user may have added content in the meantime.
        const why = isEnding(object) ? undefined : await foreignContent(cluster, object, of, { signal: active })
        if (why !== undefined) return void held.set(object, why)
        await deleteObject(cluster, object, wait ? 'Foreground' : 'Background', { signal: active })
        deleted.push(object)
        events.deleted(nameOf(object))
      })
    if (wait) {
      await gone(cluster, deleted, active)
      if (!isKnownGone) await podsGone(cluster, input, [...beyond, ...kept], active)
    }
    if (input.select || isKnownGone) return
    // Kept objects are found again by their label, so they need no record.
    await deleteKept(cluster, environment, namespace, { signal: active })
    await deleteRecord(cluster, environment, namespace, { signal: active })
  }
  await (takesAllAlong(state) ? act(signal) : whileHeld(lease, act))
  return { ...(await result(doomed.filter(object => !isHeld(object)))), wasEmpty: false }
}

/**
 * Does the work while holding the environment's Lease. If the namespace has been deleted in the meantime, no process
 * can create a Lease in it, so the work is done without a Lease.
 */
async function whileHeld(
  lease: LeaseInput & Required<Pick<LeaseInput, 'isMoot'>>,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  let isHeld = false
  try {
    await withLease(lease, active => {
      isHeld = true
      return work(active)
    })
  } catch (error) {
    if (isHeld || !(error instanceof ClusterError) || !(await lease.isMoot())) throw error
    await work(lease.signal)
  }
}

/**
 * Returns a predicate that is true for objects that still exist and are not being deleted, neither individually nor
 * with their namespace. Another process may have deleted some of the objects in the meantime.
 */
async function stillThere(
  cluster: Cluster,
  namespace: string,
  objects: readonly KubeObject[],
  options: CallOptions,
): Promise<(object: KubeObject) => boolean> {
  if (objects.length === 0) return () => false
  const takesAlong = takesAllAlong(await namespaceState(cluster, namespace, options))
  const staying = objects.filter(({ metadata }) => !takesAlong || metadata.namespace !== namespace)
  const found = await inParallel(staying, async object => {
    const { apiVersion, kind, metadata } = object
    const ref = { apiVersion, kind, name: metadata.name, namespace: metadata.namespace }
    const read = await unlessForbidden(cluster.get(ref, options), 'unknown' as const)
    const now = read === 'unknown' ? await listedAgain(cluster, object, options) : read
    return now !== undefined && now.metadata.uid === metadata.uid && !isEnding(now) ? [object] : []
  })
  const there = new Set(found.flat())
  return object => there.has(object)
}

/**
 * Returns the current version of an object that the user may list but not read. Undefined if the object no longer
 * exists, or if the user may no longer list it: on a platform, members lose this permission when the namespace is
 * deleted.
 */
async function listedAgain(
  cluster: Cluster,
  { apiVersion, kind, metadata: { name, namespace } }: KubeObject,
  options: CallOptions,
): Promise<KubeObject | undefined> {
  const listed = await unlessForbidden(cluster.list({ apiVersion, kind, namespace }, options), [])
  return listed.find(({ metadata }) => metadata.name === name)
}

/**
 * Waits for Pods that outlive their workload, for example after a destroy that did not wait. Ignores Pods of kept
 * workloads.
 */
async function podsGone(
  cluster: Cluster,
  { environment, namespace }: DestroyEnvironmentInput,
  kept: readonly KubeObject[],
  signal: AbortSignal,
): Promise<void> {
  const labels = environmentSelector(environment)
  const pods = await cluster.list({ apiVersion: 'v1', kind: 'Pod', namespace, labels }, { signal })
  const staying = new Set(kept.filter(isWorkload).map(serviceOf))
  const going = pods.filter(pod => isEnding(pod) || (isDependant(pod) && !staying.has(serviceOf(pod))))
  if (going.length > 0) await gone(cluster, going, signal)
}

/**
 * Kinds of objects that may be left over from an earlier destroy: it kept an object because of the object's content,
 * but deleted the record.
 */
const HOLDING: readonly RecordedKind[] = [
  { apiVersion: 'v1', kind: 'Namespace', namespace: null },
  { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', namespace: null },
]

/**
 * Returns the objects that an environment has outside its namespace, for an environment whose record was deleted with
 * the namespace. Because the kinds are unknown without the record, lists all kinds of the cluster, except those that
 * cannot be listed.
 */
async function forgottenObjects(
  cluster: Cluster,
  environment: string,
  namespace: string,
  options: CallOptions,
): Promise<readonly KubeObject[]> {
  const labels = environmentSelector(environment, namespace)
  const kinds = await unlessFailing(
    cluster.kinds(options).then(({ kinds }) => kinds),
    options,
  )
  const lists = await inParallel(kinds, ({ apiVersion, kind }) =>
    unlessFailing(cluster.list({ apiVersion, kind, labels }, options), options),
  )
  return lists.flat()
}

/**
 * Returns the listed objects; an empty list if the cluster cannot list them, for example because the server of their
 * kind is down. Throws the error if the signal was aborted.
 */
async function unlessFailing<T>(asked: Promise<readonly T[]>, { signal }: CallOptions): Promise<readonly T[]> {
  try {
    return await asked
  } catch (error) {
    if (error instanceof ClusterError && !signal?.aborted) return []
    throw error
  }
}

/**
 * Returns each object once: some kinds are in several API groups, and the objects of a namespace appear in two lists.
 */
const withoutRepeats = (objects: readonly KubeObject[]): readonly KubeObject[] => [
  ...new Map(objects.map(object => [object.metadata.uid ?? object, object])).values(),
]

/**
 * Returns the objects of the kinds in `others`. Skips kinds that the user may not list: the user cannot have created
 * objects of such kinds.
 */
async function otherObjects(
  cluster: Cluster,
  environment: string,
  namespace: string,
  others: readonly RecordedKind[],
  options: CallOptions,
): Promise<readonly KubeObject[]> {
  const lists = await inParallel(others, one =>
    unlessForbidden(listEnvironment(cluster, environment, namespace, [one], options), []),
  )
  return lists.flat()
}

function inOrder(objects: readonly KubeObject[]): readonly (readonly KubeObject[])[] {
  const rank = ({ kind }: KubeObject) =>
    kind === 'PersistentVolumeClaim' ? ORDER.length + 1 : ORDER.includes(kind) ? ORDER.indexOf(kind) : ORDER.length
  const groups = new Map<number, KubeObject[]>()
  for (const object of objects) groups.set(rank(object), [...(groups.get(rank(object)) ?? []), object])
  return [...groups].sort(([a], [b]) => a - b).map(([, group]) => group)
}
