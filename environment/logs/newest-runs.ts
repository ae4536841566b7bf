import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { SERVICE_LABEL } from '../labels.ts'
import { controllerOf } from '../status/owners.ts'
import { isFinished } from './source.ts'

/** Returns the Job that a Pod belongs to; undefined for Pods of other controllers. */
export function jobOf(pod: KubeObject): string | undefined {
  const owner = controllerOf(pod)
  return owner?.kind === 'Job' ? owner.name : undefined
}

/**
 * Returns a predicate that is true for Pods that finished in an earlier run of a job. A run is an earlier one if a
 * newer Job of the same service has Pods, too; a CronJob, for example, keeps several runs.
 */
export function earlierRuns(pods: readonly KubeObject[]): (pod: KubeObject) => boolean {
  const newest = new Map<string, KubeObject>()
  for (const pod of pods) {
    const service = pod.metadata.labels?.[SERVICE_LABEL]
    if (service === undefined || jobOf(pod) === undefined) continue
    const other = newest.get(service)
    if (!other || createdAt(pod) > createdAt(other)) newest.set(service, pod)
  }
  return pod => {
    const last = newest.get(pod.metadata.labels?.[SERVICE_LABEL] ?? '')
    return last !== undefined && isFinished(pod) && jobOf(pod) !== undefined && jobOf(pod) !== jobOf(last)
  }
}

const createdAt = ({ metadata }: KubeObject): string => metadata.creationTimestamp ?? ''
