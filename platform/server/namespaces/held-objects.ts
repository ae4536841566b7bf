import { Slots } from '../../../adapters/http/slots.ts'
import { type Cluster, ClusterError, type KnownKind, type ObjectRef } from '../../../adapters/kubernetes/cluster.ts'
import { MANAGER, USERS_NAMESPACE, userAccount } from '../../records/names.ts'
import type { ManagedNamespace } from '../../records/namespace.ts'
import { isKubernetesOwn } from '../../rules/finalizers.ts'
import type { ServerContext } from '../context.ts'
import { accountToken } from '../http/kube-token.ts'
import { PAGES_OF_MEMBERS } from '../http/member-objects.ts'

/**
 * Time in minutes for programs to remove their finalizers from deleted objects. Some of them first delete a load
 * balancer.
 */
const PATIENCE = 3
/** Maximum number of concurrent requests. */
const AT_ONCE = 4
/** Maximum number of rounds in which finalizers are removed by force. */
const ROUNDS = 3
/** Maximum number of objects listed in a message. */
const NAMED = 3

/** An object that cannot be deleted until programs other than Kubernetes have removed their finalizers. */
interface HeldObject extends ObjectRef {
  readonly uid: string
  readonly finalizers: readonly string[]
  /** Finalizers that Kubernetes itself removes. */
  readonly own: readonly string[]
  /** Deletion time in milliseconds since 1970; undefined if the object is not being deleted yet. */
  readonly deletedAt: number | undefined
}

/** The reason why a namespace cannot be deleted yet (`waits`), or why the deletion fails (`problem`). */
export type HeldUp = { readonly waits: string } | { readonly problem: string }

/**
 * Deletes the objects of a namespace that have finalizers of other programs. This happens before the namespace is
 * deleted, because during its deletion users can no longer change its objects, so a finalizer that no program removes
 * would block the deletion forever. If forced, removes these finalizers. Acts with the rights of the namespace's owner.
 * Returns the reason why the namespace cannot be deleted yet. Returns undefined if no such objects remain, if forced,
 * or if the owner has no rights in the namespace.
 */
export async function deleteHeldObjects(
  world: ServerContext,
  { name, owner }: ManagedNamespace,
  isForced: boolean,
  signal?: AbortSignal,
): Promise<HeldUp | undefined> {
  const account = { name: userAccount(owner), namespace: USERS_NAMESPACE }
  const cluster = world.clusterAs(
    async () => (await accountToken(world.cluster, account)).token,
    `the owner of \`${name}\``,
  )
  const slots = new Slots(AT_ONCE)
  const look = async () => {
    const held = await heldObjects(world.cluster, cluster, name, slots, signal)
    await Promise.all(held.map(one => slots.run(signal, () => end(cluster, one, isForced, signal))))
    return held
  }
  let held = await look()
  // A controller may have changed an object in the meantime.
  for (let round = 1; isForced && held.length > 0 && round < ROUNDS; round++) held = await look()
  if (isForced || held.length === 0) return undefined
  const names = held.slice(0, NAMED).map(({ kind, name, finalizers }) => {
    const quoted = finalizers.map(one => `\`${one}\``).join(', ')
    return `${kind.toLowerCase()}/${name} (${quoted})`
  })
  const more = held.length > NAMED ? ` and ${held.length - NAMED} more` : ''
  const objects = `${names.join(', ')}${more}`
  const isLate = held.some(({ deletedAt }) => deletedAt !== undefined && world.now() - deletedAt > PATIENCE * 60_000)
  return isLate
    ? { problem: `nothing has removed the finalizers of ${objects} within ${PATIENCE} minutes` }
    : { waits: `finalizers of other programs remain: ${objects}` }
}

/**
 * Returns the objects of a namespace that have finalizers of other programs. Objects that the owner may not list are
 * omitted. Only the metadata of the objects is read.
 */
async function heldObjects(
  platform: Cluster,
  owner: Cluster,
  namespace: string,
  slots: Slots,
  signal?: AbortSignal,
): Promise<readonly HeldObject[]> {
  const { kinds } = await platform.kinds({ signal })
  const found = await Promise.all(
    kinds
      // Events are skipped because there are many, and only nodes and controllers write them.
      .filter(({ namespaced, name }) => namespaced && name !== 'events')
      .map(kind => slots.run(signal, () => heldOf(owner, kind, namespace, signal))),
  )
  return found.flat()
}

async function heldOf(
  cluster: Cluster,
  { apiVersion, kind }: KnownKind,
  namespace: string,
  signal?: AbortSignal,
): Promise<readonly HeldObject[]> {
  const held: HeldObject[] = []
  // Metadata alone can be as large as an object, so the pages are small.
  const options = { metadataOnly: true, signal, ...PAGES_OF_MEMBERS }
  try {
    for await (const page of cluster.pages({ apiVersion, kind, namespace }, options))
      for (const { metadata } of page) {
        const all = Array.isArray(metadata['finalizers']) ? metadata['finalizers'].map(String) : []
        const own = all.filter(one => isKubernetesOwn(apiVersion, kind, one))
        if (own.length === all.length || metadata.uid === undefined) continue
        const { name, uid, deletionTimestamp } = metadata
        const deletedAt = deletionTimestamp === undefined ? undefined : Date.parse(deletionTimestamp)
        const finalizers = all.filter(one => !own.includes(one))
        held.push({ apiVersion, kind, name, namespace, uid, finalizers, own, deletedAt })
      }
  } catch (error) {
    if (!isWithoutRights(error)) throw error
  }
  return held
}

/** Deletes an object unless it is already being deleted. If forced, also removes the finalizers of other programs. */
async function end(
  cluster: Cluster,
  { uid, own, deletedAt, ...ref }: HeldObject,
  isForced: boolean,
  signal?: AbortSignal,
): Promise<void> {
  try {
    // The object is deleted first, because no finalizer can be added to an object that is being deleted.
    if (deletedAt === undefined) await cluster.delete(ref, { uid, propagation: 'Background', signal })
    if (isForced) await cluster.patch(ref, { metadata: { uid, finalizers: own } }, { manager: MANAGER, signal })
  } catch (error) {
    // The object was deleted, or its controller has changed it in the meantime.
    const isOther = error instanceof ClusterError && ['not-found', 'conflict', 'invalid'].includes(error.failure)
    if (!isOther && !isWithoutRights(error)) throw error
  }
}

/**
 * Returns true if an error means that the owner lacks rights. Members cannot have changed objects that they have no
 * rights to, nor any objects in a namespace whose owner is deleted.
 */
const isWithoutRights = (error: unknown): boolean =>
  error instanceof ClusterError && ['forbidden', 'not-found', 'unauthorized'].includes(error.failure)
