import { type Cluster, ClusterError } from '../../../adapters/kubernetes/cluster.ts'
import { MANAGED_LABEL, MANAGER } from '../../records/names.ts'
import { type ManagedNamespace, toNamespace } from '../../records/namespace.ts'
import { noNamespace } from '../http/platform-error.ts'
import type { NamespaceRef } from './shared-namespace.ts'

/** Returns all namespaces of the platform. */
export async function listNamespaces(cluster: Cluster): Promise<readonly ManagedNamespace[]> {
  const found = await cluster.list({ apiVersion: 'v1', kind: 'Namespace', labels: `${MANAGED_LABEL}=true` })
  return found.flatMap(one => toNamespace(one) ?? [])
}

/**
 * Changes the metadata of a namespace. Throws a PlatformError if the namespace was replaced by a later namespace of the
 * same name, which may belong to another user.
 */
export async function patchNamespace(cluster: Cluster, { name, uid }: NamespaceRef, metadata: object): Promise<void> {
  const ref = { apiVersion: 'v1', kind: 'Namespace', name }
  const patch = { metadata: { ...metadata, ...(uid !== undefined && { uid }) } }
  try {
    await cluster.patch(ref, patch, { manager: MANAGER })
  } catch (error) {
    // A wrong UID is reported as a conflict, or as the change of an immutable field.
    if (!(error instanceof ClusterError) || !['conflict', 'invalid', 'not-found'].includes(error.failure)) throw error
    if (uid !== undefined && (await cluster.get(ref))?.metadata.uid === uid) throw error
    throw noNamespace(name)
  }
}
