import type { CallOptions, Cluster, DeleteOptions, KubeObject } from '../cluster/cluster.ts'

/** Deletes this very object, not one that took its name since; says whether it was still there. */
export function deleteObject(
  cluster: Cluster,
  { apiVersion, kind, metadata: { name, namespace, uid } }: KubeObject,
  propagation: NonNullable<DeleteOptions['propagation']>,
  { signal }: CallOptions,
): Promise<boolean> {
  return cluster.delete({ apiVersion, kind, name, namespace }, { uid, propagation, signal })
}

/**
 * Deletes an object and returns when it is gone. With `Foreground` its Pods are gone before it; with `Orphan` they stay. Ends with the signal's reason.
 */
export async function deleteAndWait(
  cluster: Cluster,
  object: KubeObject,
  propagation: 'Foreground' | 'Orphan',
  { signal }: { readonly signal: AbortSignal },
): Promise<void> {
  if (await deleteObject(cluster, object, propagation, { signal })) await gone(cluster, [object], signal)
}

/** Returns when none of the objects is there any more; each kind is watched. */
export async function gone(cluster: Cluster, objects: readonly KubeObject[], signal: AbortSignal): Promise<void> {
  const byKind = new Map<string, KubeObject[]>()
  for (const object of objects) {
    const key = `${object.apiVersion} ${object.kind} ${object.metadata.namespace}`
    byKind.set(key, [...(byKind.get(key) ?? []), object])
  }
  await Promise.all([...byKind.values()].map(group => goneOfOneKind(cluster, group, signal)))
}

async function goneOfOneKind(cluster: Cluster, objects: readonly KubeObject[], signal: AbortSignal): Promise<void> {
  const { apiVersion, kind, metadata } = objects[0]!
  const left = new Set(objects.map(({ metadata: { uid } }) => uid))
  const done = new AbortController()
  const options = { signal: AbortSignal.any([signal, done.signal]) }
  let there = new Set<string | undefined>()
  try {
    for await (const change of cluster.watch({ apiVersion, kind, namespace: metadata.namespace }, options)) {
      if (change.type === 'Restarted') there = new Set()
      else if (change.type === 'Changed') there.add(change.object.metadata.uid)
      else if (change.type === 'Deleted') left.delete(change.object.metadata.uid)
      else for (const uid of left) if (!there.has(uid)) left.delete(uid)
      if (left.size === 0) return
    }
  } finally {
    done.abort()
  }
}
