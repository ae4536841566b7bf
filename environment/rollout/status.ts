import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { isEnding } from '../apply/removal.ts'
import { changedAt, isReady } from '../status/problems.ts'
import { isWaitingPod } from '../status/waiting.ts'

/** Progress of a workload, with a text for a progress line. */
export interface WorkloadStatus {
  readonly state: 'waiting' | 'ready' | 'complete' | 'failed'
  /** Text such as `Deployment 1/2 ready`. */
  readonly text: string
}

interface Condition {
  readonly type: string
  readonly status: string
  readonly reason?: string
  readonly message?: string
  readonly lastUpdateTime?: string
}

/** Update strategy of a StatefulSet or DaemonSet. */
interface UpdateStrategy {
  readonly type?: string
  readonly rollingUpdate?: { readonly partition?: number }
}

/** Fields of workload specs and statuses that are used here; each kind has some of them. */
interface Fields {
  readonly spec: {
    readonly replicas?: number
    readonly completions?: number
    readonly suspend?: boolean
    readonly updateStrategy?: UpdateStrategy
  }
  readonly status: {
    readonly observedGeneration?: number
    readonly replicas?: number
    readonly updatedReplicas?: number
    readonly readyReplicas?: number
    readonly availableReplicas?: number
    readonly currentRevision?: string
    readonly updateRevision?: string
    readonly desiredNumberScheduled?: number
    readonly updatedNumberScheduled?: number
    readonly numberAvailable?: number
    readonly numberReady?: number
    readonly succeeded?: number
    readonly conditions?: readonly Condition[]
  }
}

/**
 * Returns the status of a Deployment, StatefulSet, DaemonSet, Job or CronJob. `pods` are the known Pods of the object's
 * newest revision; undefined if they are not known. They are needed because a Deployment that exceeds its deadline has
 * not failed if all its Pods that are not ready only wait, for example for a node or an image.
 */
export function statusOf(object: KubeObject, pods?: readonly KubeObject[]): WorkloadStatus {
  const { spec = {}, status = {} } = object as unknown as Partial<Fields> // the server has checked its shape
  const seen = isSeen(object)
  const condition = (type: string) => status.conditions?.find(one => one.type === type)
  const counted = (ready: number, wanted: number, done: boolean): WorkloadStatus => ({
    state: seen && done ? 'ready' : 'waiting',
    text: `${object.kind} ${ready}/${wanted} ready`,
  })
  const replicas = spec.replicas ?? 1
  switch (object.kind) {
    case 'Deployment': {
      const ready = seen ? readyOf(status) : 0
      const progress = condition('Progressing')
      // A condition from before the last change, or the last retry, does not count.
      const isNew = (Date.parse(progress?.lastUpdateTime ?? '') || Number.POSITIVE_INFINITY) >= changedAt(object)
      if (seen && progress?.reason === 'ProgressDeadlineExceeded' && isNew && !onlyWait(pods ?? []))
        return { state: 'failed', text: `Deployment ${ready}/${replicas} ready, and no progress within its deadline` }
      const isAlone = (status.replicas ?? 0) === (status.updatedReplicas ?? 0)
      if (seen && !isAlone && ready >= replicas)
        return { state: 'waiting', text: `Deployment ${ready}/${replicas} ready, its old Pods end` }
      return counted(ready, replicas, isAlone && ready >= replicas && (status.availableReplicas ?? 0) >= replicas)
    }
    case 'StatefulSet': {
      const ready = status.readyReplicas ?? 0
      const { type, rollingUpdate } = spec.updateStrategy ?? {}
      if (type === 'OnDelete') {
        // The old Pods stay until a user deletes them, so the revision does not matter. Deleted Pods count as ready in
        // the status until they have ended.
        const staying = Math.min(ready, pods?.filter(pod => isReady(pod) && !isEnding(pod)).length ?? ready)
        return counted(staying, replicas, staying >= replicas)
      }
      const isUpdated =
        replicas === 0 ||
        status.currentRevision === status.updateRevision ||
        (status.updatedReplicas ?? 0) >= replicas - (rollingUpdate?.partition ?? 0)
      return counted(isUpdated ? ready : readyOf(status), replicas, isUpdated && ready >= replicas)
    }
    case 'DaemonSet': {
      const wanted = status.desiredNumberScheduled ?? 0
      const { numberReady = 0, updatedNumberScheduled = 0 } = status
      const isByHand = spec.updateStrategy?.type === 'OnDelete'
      const ready = isByHand ? numberReady : Math.min(numberReady, updatedNumberScheduled)
      return counted(ready, wanted, ready >= wanted && (status.numberAvailable ?? 0) >= wanted)
    }
    case 'CronJob':
      // Its Jobs are not part of a deploy. That of a job without a schedule is suspended.
      return { state: 'ready', text: spec.suspend ? 'CronJob started by users' : 'CronJob scheduled' }
    default: {
      if (condition('Complete')?.status === 'True') return { state: 'complete', text: 'Job complete' }
      const failed = condition('Failed')
      return failed?.status === 'True'
        ? { state: 'failed', text: `Job failed${failed.message ? `: ${failed.message}` : ''}` }
        : { state: 'waiting', text: 'Job running' }
    }
  }
}

/** Returns true if there are Pods that are not ready, and each of them only waits. */
function onlyWait(pods: readonly KubeObject[]): boolean {
  const unready = pods.filter(pod => !isReady(pod))
  return unready.length > 0 && unready.every(isWaitingPod)
}

/** Returns the minimum number of ready Pods of the newest revision: the ready Pods minus all older Pods. */
function readyOf({ replicas = 0, updatedReplicas = 0, readyReplicas = 0 }: Fields['status']): number {
  return Math.min(updatedReplicas, Math.max(0, readyReplicas - Math.max(0, replicas - updatedReplicas)))
}

/**
 * Returns true if the controller of a StatefulSet or DaemonSet keeps Pods of older revisions: with the strategy
 * `OnDelete`, until a user deletes them; with a partition, those with lower numbers.
 */
export function keepsOlderPods({ spec }: KubeObject): boolean {
  const { updateStrategy } = (spec ?? {}) as { readonly updateStrategy?: UpdateStrategy } // a workload's spec
  return updateStrategy?.type === 'OnDelete' || (updateStrategy?.rollingUpdate?.partition ?? 0) > 0
}

/**
 * Returns true if the controller of a workload has seen its newest generation. Always true for Jobs, whose generation
 * never changes, and for CronJobs, whose status does not contain the generation.
 */
export function isSeen(object: KubeObject): boolean {
  if (object.kind === 'Job' || object.kind === 'CronJob') return true
  const { observedGeneration = 0 } = (object['status'] ?? {}) as { readonly observedGeneration?: number } // a workload's status
  return observedGeneration >= (object.metadata.generation ?? 0)
}

/** Returns true if the workload meets the condition that a dependent workload waits for. */
export function isReached(
  condition: 'service_started' | 'service_healthy' | 'service_completed_successfully',
  status: WorkloadStatus,
  hasStartedPod: boolean,
): boolean {
  if (status.state === 'complete') return true
  if (condition === 'service_completed_successfully') return false
  if (status.state === 'ready') return true
  return condition === 'service_started' && hasStartedPod
}
