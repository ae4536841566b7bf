import { type Cluster, ClusterError, type KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import { RECORD_LABEL, USERS_NAMESPACE } from '../../records/names.ts'
import { toOneTime } from '../../records/one-time.ts'
import { toToken } from '../../records/token.ts'
import type { ServerContext } from '../context.ts'
import type { LeaderTask } from '../leader/leader.ts'

/**
 * Milliseconds that a record is kept after it has expired: the clocks of replicas differ, and a response may still be
 * in progress.
 */
const GRACE = 60_000
const EVERY = 10 * 60_000
/** Concurrent deletions. */
const TOGETHER = 8

/**
 * When a Secret of `devctl-users` expires, in milliseconds since 1970; undefined if it is not a record of the platform.
 */
export const endOf = (secret: KubeObject): number | undefined => {
  const record = toToken(secret) ?? toOneTime(secret)
  return record && Date.parse(record.expires)
}

/** Deletes expired tokens and logins that were never completed. They are listed page by page. */
export const expiredTask = ({ cluster, now }: ServerContext): LeaderTask => ({
  name: 'expired tokens',
  everyMs: EVERY,
  async run(signal) {
    const query = { apiVersion: 'v1', kind: 'Secret', namespace: USERS_NAMESPACE }
    const labels = `${RECORD_LABEL} in (token,one-time)`
    for await (const page of cluster.pages({ ...query, labels }, { signal })) {
      const over = page.filter(one => (endOf(one) ?? Number.POSITIVE_INFINITY) + GRACE < now())
      for (let at = 0; at < over.length; at += TOGETHER)
        await Promise.all(over.slice(at, at + TOGETHER).map(one => remove(cluster, one, signal)))
    }
  },
})

/** Only this version of the record: one that was renewed in the meantime stays. */
async function remove(cluster: Cluster, { metadata }: KubeObject, signal: AbortSignal): Promise<void> {
  const { name, namespace, uid, resourceVersion } = metadata
  const ref = { apiVersion: 'v1', kind: 'Secret', name, namespace }
  await cluster.delete(ref, { uid, resourceVersion, signal }).catch(error => {
    if (!(error instanceof ClusterError) || error.failure !== 'conflict') throw error
  })
}
