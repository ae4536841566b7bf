import type { CallOptions, Cluster, ClusterError, KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { isEnding } from '../apply/removal.ts'
import { unlessForbidden } from '../forbidden.ts'

/**
 * Throws a UserError if the namespace is being deleted, because no objects can be created in it and existing ones are
 * deleted with it.
 */
export async function refuseEndingNamespace(cluster: Cluster, namespace: string, options: CallOptions): Promise<void> {
  const ending = await endingNamespace(cluster, namespace, options)
  if (ending) throw namespaceEnds(namespace, leftIn(ending))
}

/** Returns the namespace if it is being deleted; undefined otherwise, and for users without permission to read it. */
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
 * State of a namespace: `ending` while it is being deleted, `gone` if it does not exist, and `unknown` for users
 * without permission to read it. No object can be created in an ending or missing namespace.
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

/**
 * Returns true if the objects of the namespace are being deleted with the namespace, or have already been deleted with
 * it.
 */
export const takesAllAlong = (state: NamespaceState): boolean => state === 'ending' || state === 'gone'

/** Returns true if the cluster rejects a new object because its namespace is being deleted. */
export const isOfEndingNamespace = ({ causes }: ClusterError): boolean =>
  causes.some(({ reason }) => reason === 'NamespaceTerminating')

/** Returns the error for a namespace that is being deleted. */
export const namespaceEnds = (namespace: string, notes: readonly string[], cause?: unknown): UserError =>
  new UserError(`the namespace \`${namespace}\` is being deleted`, {
    notes,
    hint: 'wait until it is deleted and create it again, or name another one with `--namespace`',
    ...(cause !== undefined && { cause }),
  })

/** Returns the reasons why a namespace still exists, as reported by its controller. */
function leftIn({ status }: KubeObject): readonly string[] {
  const { conditions = [] } = (status ?? {}) as {
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly message?: string }[]
  } // a Namespace's status
  return conditions.flatMap(({ type, status, message }) =>
    status === 'True' && message && /Remaining|Failure/.test(type) ? [message] : [],
  )
}
