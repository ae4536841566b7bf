import type { CallOptions, Cluster, ClusterError, KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { isEnding } from '../apply/removal.ts'
import { unlessForbidden } from '../forbidden.ts'

/**
 * Throws a UserError when the namespace is being deleted: nothing can be made in it, and what is
 * there goes with it.
 */
export async function refuseEndingNamespace(cluster: Cluster, namespace: string, options: CallOptions): Promise<void> {
  const ending = await endingNamespace(cluster, namespace, options)
  if (ending) throw namespaceEnds(namespace, leftIn(ending))
}

/**
 * The namespace when it is being deleted; undefined otherwise, and for users who may not read it.
 */
export async function endingNamespace(
  cluster: Cluster,
  namespace: string,
  options: CallOptions,
): Promise<KubeObject | undefined> {
  const asked = cluster.get({ apiVersion: 'v1', kind: 'Namespace', name: namespace }, options)
  const found = await unlessForbidden(asked, undefined)
  return found && isEnding(found) ? found : undefined
}

/**
 * `ending` while the namespace is being deleted, `gone` if it does not exist, and `unknown` for users
 * who may not read it. Nothing can be created in one that is ending or gone.
 */
export type NamespaceState = 'active' | 'ending' | 'gone' | 'unknown'

/** Reads the state of a namespace. */
export async function namespaceState(
  cluster: Cluster,
  namespace: string,
  options: CallOptions,
): Promise<NamespaceState> {
  const asked = cluster.get({ apiVersion: 'v1', kind: 'Namespace', name: namespace }, options)
  const found = await unlessForbidden(asked, 'unknown' as const)
  if (found === 'unknown') return found
  if (found === undefined) return 'gone'
  return isEnding(found) ? 'ending' : 'active'
}

/** True for a namespace whose objects are deleted with it, or were. */
export const takesAllAlong = (state: NamespaceState): boolean => state === 'ending' || state === 'gone'

/** True if the cluster refuses a new object because its namespace is being deleted. */
export const isOfEndingNamespace = ({ causes }: ClusterError): boolean =>
  causes.some(({ reason }) => reason === 'NamespaceTerminating')

/** The error for a namespace that is being deleted. */
export const namespaceEnds = (namespace: string, notes: readonly string[], cause?: unknown): UserError =>
  new UserError(`the namespace \`${namespace}\` is being deleted`, {
    notes,
    hint: 'wait until it is deleted and create it again, or name another one with `--namespace`',
    ...(cause !== undefined && { cause }),
  })

/** The reasons why a namespace is not gone yet, in the words of its controller. */
function leftIn({ status }: KubeObject): readonly string[] {
  const { conditions = [] } = (status ?? {}) as {
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly message?: string }[]
  } // a Namespace's status
  return conditions.flatMap(({ type, status, message }) =>
    status === 'True' && message && /Remaining|Failure/.test(type) ? [message] : [],
  )
}
