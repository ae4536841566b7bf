import type { CallOptions, Cluster, KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { statusOf } from '../rollout/status.ts'
import { controllerOf } from '../status/owners.ts'
import { isFinished } from './source.ts'

/**
 * The Jobs that Pods belong to, when all of them have finished; undefined when one has not, or
 * belongs to something that starts new ones forever.
 */
export function jobsOfFinished(pods: readonly KubeObject[]): ReadonlySet<string> | undefined {
  if (pods.length === 0 || !pods.every(isFinished)) return undefined
  const jobs = pods.map(jobOf)
  return jobs.every(name => name !== undefined) ? new Set(jobs) : undefined
}

/**
 * Resolves when the Jobs have ended, so that they make no further Pods. Rejects with the signal's
 * reason, or when Jobs may not be watched.
 */
export async function untilJobsEnd(
  cluster: Cluster,
  namespace: string,
  jobs: ReadonlySet<string>,
  { signal }: CallOptions,
): Promise<void> {
  const left = new Set(jobs)
  for await (const change of cluster.watch({ apiVersion: 'batch/v1', kind: 'Job', namespace }, { signal })) {
    if (change.type === 'Restarted' || change.type === 'Listed') continue
    const { object, type } = change
    if (type === 'Deleted' || statusOf(object).state !== 'waiting') left.delete(object.metadata.name)
    if (left.size === 0) return
  }
}

function jobOf(pod: KubeObject): string | undefined {
  const owner = controllerOf(pod)
  return owner?.kind === 'Job' ? owner.name : undefined
}
