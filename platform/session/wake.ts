import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { isPlatform } from '../../project/contexts/store.ts'
import type { OperationContext } from '../../project/session.ts'
import { STATUS } from '../records/namespace.ts'

/**
 * True if a platform has put the namespace to sleep. Reads a label of the namespace, which all its members can read.
 */
export const isAsleep = ({ metadata }: KubeObject): boolean => metadata.labels?.[STATUS] === 'Sleeping'

/**
 * Wakes a sleeping namespace through the platform of the context. When this resolves, its workloads have their Pods
 * again, though the Pods may not be ready.
 */
export async function wakeNamespace(
  { session: { namespace, target, signal }, workspace, on }: Pick<OperationContext, 'session' | 'workspace' | 'on'>,
  live: KubeObject,
): Promise<void> {
  if (!isAsleep(live)) return
  if (!isPlatform(target.context)) {
    on({
      type: 'warning',
      text: `namespace ${namespace} sleeps: what runs in it has no Pods until it is woken`,
    })
    return
  }
  on({ type: 'note', text: `namespace ${namespace} sleeps; waking it` })
  const { connectPlatform } = await import('./connect-platform.ts')
  const platform = connectPlatform(target.context, target.stored.token, workspace.env)
  await platform.call('POST /namespaces/:ns/wake', { params: { ns: namespace } }, signal)
}
