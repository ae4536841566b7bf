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
  /** Claims, too. */
  readonly volumes: boolean
  /** Wait until everything has been deleted, Pods included. */
  readonly wait: boolean
  /**
   * Selects the objects to delete from all objects of the environment, which continues to exist; absent: deletes all of
   * them. Throws to stop.
   */
  readonly select?: (objects: readonly KubeObject[], namespace: NamespaceState) => Promise<readonly KubeObject[]>
  /**
   * Runs first, while the Lease is held; if it throws, nothing is deleted. Also runs if the record was deleted with the
   * namespace, because nothing then shows that there is no work for it.
   */
  readonly before?: (signal: AbortSignal, namespace: NamespaceState) => Promise<void>
}

export interface DestroyContext {
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly events: {
    /** The objects to delete, and those that stay. */
    planned(doomed: readonly KubeObject[], kept: readonly KubeObject[]): void
    /** True if objects of the whole cluster may be deleted, too; absent: they may. */
    mayDelete?(ofCluster: readonly KubeObject[]): Promise<boolean>
    /** An object's deletion was asked for. */
    deleted(object: string): void
    /** Called when another process holds the Lease: it is working on the environment, or has died while doing so. */
    locked(holder: string): void
  }
}

export interface DestroyResult {
  /** Names of the deleted objects, like `deployment/web`. */
  readonly deleted: readonly string[]
  /** Claims, and what is annotated to be kept. */
  readonly kept: readonly string[]
  /** Objects that stay because of their content, with the reason. */
  readonly held: readonly { readonly object: string; readonly why: string }[]
  /** There was nothing. */
  readonly wasEmpty: boolean
  /** True if the namespace did not exist. */
  readonly isNamespaceGone: boolean
}

const recorded = ({ apiVersion, kind }: Kind): RecordedKind => ({ apiVersion, kind })

/** Kinds that an environment can have even if its record was deleted or lost. */
const KNOWN = KINDS.filter(({ isExtra }) => !isExtra).map(recorded)
/** Further kinds of that sort, which the user may have no right to list. */
const EXTRA = KINDS.filter(({ isExtra }) => isExtra).map(recorded)

/**
 * Order of deletion: routes first, so that no request reaches workloads that are being deleted; then workloads; then
 * the objects that they need; claims last.
 */
const ORDER = [...kindsOf('route').toReversed(), ...kindsOf('workload')].map(({ kind }) => kind).concat('Service')

/**
 * Deletes what an environment has, in the reverse of the order in which it was made, and the record
 * last, so that a destroy that is killed can be run again. Claims go only with `volumes`; what is
 * annotated `dev.platform/policy: keep` stays, and so do Namespaces and custom resource definitions
 * that hold what is not the environment's. What a namespace takes along that is being deleted is
 * neither deleted nor kept. Throws a UserError, and the signal's reason.
 */
export async function destroyEnvironment(
  input: DestroyEnvironmentInput,
  world: DestroyContext,
): Promise<DestroyResult> {
  const { cluster, environment, namespace, holder, wait } = input
  const { clock, signal, events } = world
  const options: CallOptions = { signal }
  const [record, locked, state] = await Promise.all([
    readRecord(cluster, environment, namespace, options),
    isLocked(cluster, environment, namespace, options),
    namespaceState(cluster, namespace, options),
  ])
  const isNamespaceGone = state === 'gone'
  const kinds = unitedKinds(KNOWN, record?.kinds ?? [])
  const holding = HOLDING.filter(one => !kinds.some(({ kind, namespace }) => kind === one.kind && namespace === null))
  const isForgotten = !record && takesAllAlong(state)
  const [listed, beside, elsewhere] = await Promise.all([
    listEnvironment(cluster, environment, namespace, kinds, options),
    otherObjects(cluster, environment, namespace, record ? holding : [...holding, ...EXTRA], options),
    isForgotten ? forgottenObjects(cluster, environment, namespace, options) : [],
  ])
  const found = withoutRepeats([...listed, ...beside, ...elsewhere])
  const stays = (object: KubeObject) =>
    keepsItself(object) || (object.kind === 'PersistentVolumeClaim' && !input.volumes)
  // A mirror belongs to its workload, but a deletion that is waited for waits for its Pods, too.
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
    if (wait) await podsGone(cluster, input, [...beyond, ...kept], signal)
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
      await podsGone(cluster, input, [...beyond, ...kept], active)
    }
    if (input.select) return
    // Objects that stay are found again by their label; they need no record.
    await deleteKept(cluster, environment, namespace, { signal: active })
    await deleteRecord(cluster, environment, namespace, { signal: active })
  }
  await (takesAllAlong(state) ? act(signal) : whileHeld(lease, act))
  return { ...(await result(doomed.filter(object => !isHeld(object)))), wasEmpty: false }
}

/**
 * Does the work while holding the environment's Lease. In a namespace that has been deleted in the
 * meantime no Lease can be created, by others neither: there the work is done without one.
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
 * Tells which objects exist now, and are not being deleted, alone or with the namespace: others may have
 * deleted some in the meantime.
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
    const now = await unlessForbidden(cluster.get(ref, options), object)
    return now !== undefined && now.metadata.uid === metadata.uid && !isEnding(now) ? [object] : []
  })
  const there = new Set(found.flat())
  return object => there.has(object)
}

/**
 * Waits for Pods that outlive what made them, as after a destroy that did not wait. Those of
 * workloads that are kept stay.
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

/** Kinds whose objects an earlier destroy may have left because of their content, after it deleted the record. */
const HOLDING: readonly RecordedKind[] = [
  { apiVersion: 'v1', kind: 'Namespace', namespace: null },
  { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', namespace: null },
]

/**
 * The objects of an environment outside its namespace, of any kind: the record, which knows what
 * commands have made there, was deleted with the namespace. A kind that cannot be listed has none.
 */
async function forgottenObjects(
  cluster: Cluster,
  environment: string,
  namespace: string,
  options: CallOptions,
): Promise<readonly KubeObject[]> {
  const labels = environmentSelector(environment, namespace)
  const kinds = await unlessFailing(cluster.kinds(options), options)
  const lists = await inParallel(kinds, ({ apiVersion, kind }) =>
    unlessFailing(cluster.list({ apiVersion, kind, labels }, options), options),
  )
  return lists.flat()
}

/** None if the cluster does not list them, as for a kind whose server is down. */
async function unlessFailing<T>(asked: Promise<readonly T[]>, { signal }: CallOptions): Promise<readonly T[]> {
  try {
    return await asked
  } catch (error) {
    if (error instanceof ClusterError && !signal?.aborted) return []
    throw error
  }
}

/** Returns each object once: some kinds are in several API groups, and the objects of a namespace are in two lists. */
const withoutRepeats = (objects: readonly KubeObject[]): readonly KubeObject[] => [
  ...new Map(objects.map(object => [object.metadata.uid ?? object, object])).values(),
]

/** Objects of other kinds that need not be there. A user who may not list a kind has not made any. */
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
