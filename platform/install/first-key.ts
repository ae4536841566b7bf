import { randomBytes } from 'node:crypto'
import { type Cluster, ClusterError, type KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { KEYS_SECRET, PLATFORM_NAMESPACE } from '../records/names.ts'

/** Bytes of a key. */
const KEY = 32

/**
 * Makes the key with which the platform seals what it keeps, unless there is one: without the keys that were
 * there, nothing that was sealed could be read.
 */
export async function makeFirstKey(cluster: Cluster, signal: AbortSignal): Promise<void> {
  // The file of the key has base64, so that people can add one with a text editor.
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
