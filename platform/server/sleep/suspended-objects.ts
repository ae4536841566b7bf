import { type Cluster, ClusterError, type KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import type { RestingObject } from '../../records/asleep.ts'
import { listMemberObjects } from '../http/member-objects.ts'
import { ruleOf, SUSPEND_RULES, type SuspendRule } from './suspend-rules.ts'

/** Field manager of changes by sleep and wake. */
const SLEEP_MANAGER = 'devctl-sleep'

/** The namespace whose objects are put to sleep and woken. */
export interface ObjectsOf {
  readonly cluster: Cluster
  readonly namespace: string
  readonly signal?: AbortSignal | undefined
}

/** An object that could not be changed, and the reason. */
export interface FailedChange {
  readonly one: RestingObject
  readonly error: unknown
}

/** Yields all objects of a namespace that can sleep, with the rule for their kind. */
export async function* listSuspendable({
  cluster,
  namespace,
  signal,
}: ObjectsOf): AsyncGenerator<readonly [KubeObject, SuspendRule], void> {
  for (const rule of SUSPEND_RULES) {
    const { apiVersion, kind } = rule
    for await (const live of listMemberObjects(cluster, { apiVersion, kind, namespace }, signal)) yield [live, rule]
  }
}

/** Puts the objects to sleep, one kind after the other. Returns those that could not be changed. */
export async function suspendObjects(
  of: ObjectsOf,
  wanted: readonly RestingObject[],
): Promise<readonly FailedChange[]> {
  const failed: FailedChange[] = []
  for (const { kind, rest } of SUSPEND_RULES) {
    const ofKind = wanted.filter(one => one.kind === kind)
    failed.push(...(await changeAll(of, ofKind, one => patchObject(of, one, rest(one)))))
  }
  return failed
}

/**
 * Starts the workloads that are still asleep. Workloads that a user has scaled up since then are not changed. Returns
 * the workloads that could not be started.
 */
export async function startWorkloads(
  of: ObjectsOf,
  resting: readonly RestingObject[],
): Promise<readonly FailedChange[]> {
  const asleep = new Set<string>()
  for await (const [live, rule] of listSuspendable(of))
    if (rule.remember(live) === undefined) asleep.add(`${rule.kind} ${live.metadata.uid}`)
  const workloads = resting.filter(({ kind, uid }) => kind !== 'Ingress' && asleep.has(`${kind} ${uid}`))
  return changeAll(of, workloads, one => wakeObject(of, one))
}

/** Changes objects at the same time. A failure of one object does not affect the others. */
async function changeAll(
  { signal }: ObjectsOf,
  objects: readonly RestingObject[],
  change: (one: RestingObject) => Promise<void>,
): Promise<readonly FailedChange[]> {
  const failed: FailedChange[] = []
  await Promise.all(objects.map(one => change(one).catch(error => failed.push({ one, error }))))
  signal?.throwIfAborted()
  return failed
}

/** Restores the classes of Ingresses. Returns those that could not be changed. */
export const wakeRoutes = (of: ObjectsOf, routes: readonly RestingObject[]): Promise<readonly FailedChange[]> =>
  changeAll(of, routes, one => wakeRoute(of, one))

/** Restores the class of an Ingress, unless a user has set another class since. */
export async function wakeRoute(of: ObjectsOf, one: RestingObject): Promise<void> {
  const live = await of.cluster.get(refOf(of, one), { signal: of.signal })
  if (live && ruleOf(one.kind).remember(live) === undefined) await wakeObject(of, one)
}

const wakeObject = (of: ObjectsOf, one: RestingObject): Promise<void> =>
  patchObject(of, one, ruleOf(one.kind).wake(one))

const refOf = ({ namespace }: ObjectsOf, { kind, name }: RestingObject) => ({
  apiVersion: ruleOf(kind).apiVersion,
  kind,
  name,
  namespace,
})

/** Patches an object if its UID is still the recorded one. A deleted or replaced object is skipped. */
async function patchObject(of: ObjectsOf, one: RestingObject, patch: object): Promise<void> {
  const { cluster, signal } = of
  const { uid } = one
  const { metadata, ...rest } = patch as { readonly metadata?: object }
  const ref = refOf(of, one)
  const whole = { ...rest, metadata: { ...metadata, uid } }
  try {
    await cluster.patch(ref, whole, { manager: SLEEP_MANAGER, signal })
  } catch (error) {
    // A wrong UID is reported as a conflict, or as the change of an immutable field.
    if (!(error instanceof ClusterError) || !['conflict', 'invalid', 'not-found'].includes(error.failure)) throw error
    if (error.failure === 'invalid' && (await cluster.get(ref, { signal }))?.metadata.uid === uid) throw error
  }
}
