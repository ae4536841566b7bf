import { type Cluster, ClusterError, type KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import { RECORD_LABEL, USERS_NAMESPACE } from '../../records/names.ts'
import { toOneTime } from '../../records/one-time.ts'
import { toToken } from '../../records/token.ts'
import type { ServerContext } from '../context.ts'
import type { LeaderTask } from '../leader/leader.ts'

/**
 * Time in milliseconds for which an expired record is kept, because the clocks of replicas differ and a request may
 * still be in progress.
 */
const GRACE = 60_000
const EVERY = 10 * 60_000
/** Maximum number of concurrent deletions. */
const TOGETHER = 8

/**
 * Returns the expiry time of a Secret in `devctl-users`, in milliseconds since 1970; undefined if it is not a record of
 * the platform.
 */
export const endOf = (secret: KubeObject): number | undefined => {
  const record = toToken(secret) ?? toOneTime(secret)
  return record && Date.parse(record.expires)
}

/** Returns the task that deletes expired tokens and abandoned logins. They are listed page by page. */
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

/** Deletes a record in the version that was read. A record that was renewed after the read is kept. */
async function remove(cluster: Cluster, { metadata }: KubeObject, signal: AbortSignal): Promise<void> {
  const { name, namespace, uid, resourceVersion } = metadata
  const ref = { apiVersion: 'v1', kind: 'Secret', name, namespace }
  await cluster.delete(ref, { uid, resourceVersion, signal }).catch(error => {
    if (!(error instanceof ClusterError) || error.failure !== 'conflict') throw error
  })
}
