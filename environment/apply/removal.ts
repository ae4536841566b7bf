import {
  type ApplyOptions,
  type CallOptions,
  type Cluster,
  ClusterError,
  type DeleteOptions,
  type KubeObject,
} from '../../adapters/kubernetes/cluster.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { nameOf } from '../plan/desired-state.ts'
import { webhookRefusal } from '../plan/webhook-refusal.ts'

/** Returns true if an object is being deleted: it counts as missing, and no longer produces other objects. */
export const isEnding = ({ metadata }: KubeObject): boolean => metadata.deletionTimestamp !== undefined

/** Returns the reason why an object is still being deleted, from its finalizers. */
export function deletionBlocker({ metadata }: KubeObject): string {
  const others = foreignFinalizers(metadata)
  if (others.length > 0)
    return `the ${others.length === 1 ? 'finalizer' : 'finalizers'} ${others.map(name => `\`${name}\``).join(', ')} ${others.length === 1 ? 'blocks' : 'block'} the deletion`
  return (
    finalizersOf(metadata)
      .map(name => KNOWN_FINALIZERS.get(name))
      .find(Boolean) ?? 'it is being deleted'
  )
}

const finalizersOf = (metadata: KubeObject['metadata']): readonly string[] =>
  Array.isArray(metadata['finalizers']) ? metadata['finalizers'].map(String) : []

const foreignFinalizers = (metadata: KubeObject['metadata']): readonly string[] =>
  finalizersOf(metadata).filter(name => !KNOWN_FINALIZERS.has(name))

/** Returns a hint about another tool's finalizer; undefined if only Kubernetes blocks the deletion. */
function finalizerHint(object: KubeObject): string | undefined {
  const { metadata } = object
  if (foreignFinalizers(metadata).length === 0) return undefined
  const inNamespace = metadata.namespace === undefined ? '' : ` -n ${metadata.namespace}`
  return `its controller removes a finalizer when it is done; if the controller no longer runs: \`kubectl patch ${nameOf(object)}${inNamespace} --type merge -p '{"metadata":{"finalizers":null}}'\``
}

/** Finalizers of Kubernetes itself, and the reason why each is still set. */
const KNOWN_FINALIZERS = new Map([
  ['foregroundDeletion', 'its dependents are still being deleted'],
  ['orphan', 'its dependents are being orphaned'],
  ['kubernetes.io/pvc-protection', 'a Pod still uses it'],
])

/**
 * Deletes this very object, not a newer one with the same name; returns true if it still existed. Throws a UserError
 * that names the object if an admission webhook rejects the request.
 */
export async function deleteObject(
  cluster: Cluster,
  object: KubeObject,
  propagation: NonNullable<DeleteOptions['propagation']>,
  { signal }: CallOptions,
): Promise<boolean> {
  const { apiVersion, kind, metadata } = object
  const { name, namespace, uid } = metadata
  try {
    return await cluster.delete({ apiVersion, kind, name, namespace }, { uid, propagation, signal })
  } catch (error) {
    if (!(error instanceof ClusterError)) throw error
    throw webhookRefusal(error, `the deletion of \`${nameOf(object)}\``) ?? error
  }
}

/**
 * Deletes an object and waits until it no longer exists. With `Foreground`, its Pods are deleted first; with `Orphan`,
 * its Pods are kept. Calls `sent` as soon as the deletion can no longer be stopped. Throws the errors of `gone`.
 */
export async function deleteAndWait(
  cluster: Cluster,
  object: KubeObject,
  propagation: 'Foreground' | 'Orphan',
  { signal }: { readonly signal: AbortSignal },
  sent: () => void = () => {},
): Promise<void> {
  const wasThere = await deleteObject(cluster, object, propagation, { signal })
  sent()
  if (wasThere) await gone(cluster, [object], signal)
}

/**
 * Applies an object and makes sure that it stays. An object that is being deleted accepts changes but still disappears.
 * In that case, calls `ending`, waits for the deletion, and creates the object again. Throws the errors of `gone`.
 */
export async function applyToStay(
  cluster: Cluster,
  object: KubeObject,
  options: ApplyOptions,
  ending: (object: KubeObject) => void = () => {},
): Promise<KubeObject> {
  for (;;) {
    const applied = await cluster.apply(object, options)
    if (!isEnding(applied)) return applied
    ending(applied)
    await gone(cluster, [applied], options.signal)
  }
}

/**
 * Watches the objects until none of them exists. If the signal is aborted first, throws a UserError that names the
 * remaining objects, with the abort reason as its cause.
 */
export async function gone(
  cluster: Cluster,
  objects: readonly KubeObject[],
  signal: AbortSignal | undefined,
): Promise<void> {
  const byKind = new Map<string, KubeObject[]>()
  for (const object of objects) {
    const key = `${object.apiVersion} ${object.kind} ${object.metadata.namespace}`
    byKind.set(key, [...(byKind.get(key) ?? []), object])
  }
  await Promise.all([...byKind.values()].map(group => goneOfOneKind(cluster, group, signal)))
}

async function goneOfOneKind(
  cluster: Cluster,
  objects: readonly KubeObject[],
  signal: AbortSignal | undefined,
): Promise<void> {
  const { apiVersion, kind, metadata } = objects[0]!
  const left = new Map(objects.map(object => [object.metadata.uid, object]))
  const done = new AbortController()
  const options = { signal: AbortSignal.any([...(signal ? [signal] : []), done.signal]) }
  let there = new Set<string | undefined>()
  try {
    for await (const change of cluster.watch({ apiVersion, kind, namespace: metadata.namespace }, options)) {
      if (change.type === 'Restarted') there = new Set()
      else if (change.type === 'Changed') {
        const { uid } = change.object.metadata
        there.add(uid)
        if (left.has(uid)) left.set(uid, { ...change.object, kind })
      } else if (change.type === 'Deleted') left.delete(change.object.metadata.uid)
      else for (const uid of left.keys()) if (!there.has(uid)) left.delete(uid)
      if (left.size === 0) return
    }
  } catch (error) {
    // Objects are deleted with the definition of their kind.
    if (error instanceof ClusterError && error.failure === 'not-found') return
    const isLate = signal?.aborted && error === signal.reason && error instanceof DOMException
    if (!isLate) throw error
    const all = [...left.values()]
    const [first = '', ...notes] = all.map(object => `${nameOf(object)} is not deleted yet: ${deletionBlocker(object)}`)
    const hint = all.map(finalizerHint).find(one => one !== undefined)
    throw new UserError(first, { notes, ...(hint !== undefined && { hint }), cause: error })
  } finally {
    done.abort()
  }
}
