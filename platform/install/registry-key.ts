import { type Cluster, ClusterError, type KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { PLATFORM_NAMESPACE, REGISTRY_SECRET } from '../records/names.ts'
import { makeAuthority } from './certificates/certificates.ts'

/**
 * Creates the key with which the platform signs tokens for its registry, unless one exists: the registry has the
 * certificate of the existing key.
 */
export async function makeRegistryKey(cluster: Cluster, now: number, signal: AbortSignal): Promise<void> {
  const { certificate, key } = makeAuthority('devctl registry tokens', now)
  const secret: KubeObject = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: REGISTRY_SECRET, namespace: PLATFORM_NAMESPACE },
    type: 'kubernetes.io/tls',
    stringData: { 'tls.crt': certificate, 'tls.key': key },
  }
  try {
    await cluster.create(secret, { signal })
  } catch (error) {
    if (!(error instanceof ClusterError) || error.failure !== 'exists') throw error
  }
}
