import { ClusterError } from '../adapters/kubernetes/cluster.ts'
import { type CreatesNamespace, confirmNamespace, findNamespace, type NamespaceAccess } from '../project/namespaces.ts'
import type { OperationContext } from '../project/session.ts'

/**
 * Returns true if a platform has put the namespace to sleep. Returns false if the namespace does not exist or the user
 * may not read it.
 */
export async function sleeps(where: NamespaceAccess): Promise<boolean> {
  const found = await findNamespace(where)
  if (found === undefined || found === 'unknown') return false
  const { isAsleep } = await import('../platform/session/wake.ts')
  return isAsleep(found)
}

/** Wakes the namespace, if a platform has put it to sleep. */
export async function wakeIfAsleep(world: OperationContext): Promise<void> {
  const found = await findNamespace(world.session)
  if (found === undefined || found === 'unknown') return
  const { wakeNamespace } = await import('../platform/session/wake.ts')
  await wakeNamespace(world, found)
}

/**
 * Creates the namespace of a deploy if it does not exist and `confirmNamespace` allows it. Wakes a sleeping namespace.
 */
export async function ensureNamespace(world: OperationContext, input: CreatesNamespace): Promise<void> {
  const { session, on } = world
  const { cluster, namespace, signal } = session
  const found = await findNamespace(session)
  if (found === 'unknown') return
  if (found) {
    const { wakeNamespace } = await import('../platform/session/wake.ts')
    return wakeNamespace(world, found)
  }
  if (!(await confirmNamespace(world, input))) return
  try {
    await cluster.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }, { signal })
    on({ type: 'note', text: `created namespace ${namespace}` })
  } catch (error) {
    // Another process has created the namespace in the meantime.
    if (!(error instanceof ClusterError) || error.failure !== 'exists') throw error
  }
}
