import { randomBytes } from 'node:crypto'
import { type Cluster, ClusterError, type KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { KEYS_SECRET, PLATFORM_NAMESPACE } from '../records/names.ts'

/** Length of a key, in bytes. */
const KEY = 32

/**
 * Creates the key that the platform encrypts its stored secrets with, unless one exists: without the existing keys,
 * encrypted data could not be read any more.
 */
export async function makeFirstKey(cluster: Cluster, signal: AbortSignal): Promise<void> {
  // The key is base64 text in the file, so that an operator can add a key with a text editor.
  const file = randomBytes(KEY).toString('base64')
  const secret: KubeObject = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: KEYS_SECRET, namespace: PLATFORM_NAMESPACE },
    data: { k1: Buffer.from(file).toString('base64') },
  }
  try {
    await cluster.create(secret, { signal })
  } catch (error) {
    if (!(error instanceof ClusterError) || error.failure !== 'exists') throw error
  }
}
