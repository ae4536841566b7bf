import type { CallOptions, Cluster, KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { statusOf } from '../rollout/status.ts'
import { controllerOf } from '../status/owners.ts'
import { isFinished } from './source.ts'

/**
 * Returns the Jobs that the Pods belong to if all Pods have finished; undefined if a Pod has not finished, or belongs
 * to a controller that keeps starting new Pods.
 */
export function jobsOfFinished(pods: readonly KubeObject[]): ReadonlySet<string> | undefined {
  if (pods.length === 0 || !pods.every(isFinished)) return undefined
  const jobs = pods.map(jobOf)
  return jobs.every(name => name !== undefined) ? new Set(jobs) : undefined
}

/**
 * Resolves when the Jobs have ended and so create no further Pods. Rejects with the signal's abort reason, or if the
 * user may not watch Jobs.
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
