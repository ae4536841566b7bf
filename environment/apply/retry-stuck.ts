import type { CallOptions, Cluster, KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { environmentSelector, MANAGER } from '../labels.ts'
import type { DesiredObject, DesiredState, DesiredWorkload } from '../plan/desired-state.ts'
import { newestPods } from '../rollout/revisions.ts'
import { statusOf } from '../rollout/status.ts'
import { belongsTo } from '../rollout/tracker.ts'
import { listWarnings } from '../status/events.ts'
import { SHORT } from '../status/failures.ts'
import { type Problem, podProblems, workloadProblems } from '../status/problems.ts'
import { addCapacityEvents } from '../status/unschedulable.ts'
import { deleteObject, isEnding } from './removal.ts'
import { requestReconcile } from './request-reconcile.ts'
import type { Step } from './steps.ts'

/** Workload that matches the files but is not ready. */
export interface UnreadyWorkload {
  readonly workload: DesiredWorkload
  readonly live: KubeObject
  /** Reason in a few words, such as `its image cannot be pulled`. */
  readonly why: string
  /**
   * True if waiting does not help, or only after a long time. The deploy then retries the workload, because the cause
   * may have been fixed.
   */
  readonly isStuck: boolean
  /** Failing Pods of the workload, which are replaced. Running Pods are kept, even unhealthy ones. */
  readonly pods: readonly KubeObject[]
  /** UIDs of the workload's Pods that are still starting, in an attempt that began before the deploy. */
  readonly begun: readonly (string | undefined)[]
}

/** Annotation with the time of the last retry. */
const RETRIED = 'dev.platform/retried'

/**
 * Finds the workloads of an environment that the deploy does not change and that are not ready, each with the reason.
 */
export async function findUnreadyWorkloads(
  cluster: Cluster,
  { environment, namespace, workloads }: DesiredState,
  steps: ReadonlyMap<DesiredObject, Step>,
  now: number,
  options: CallOptions,
): Promise<readonly UnreadyWorkload[]> {
  const suspects = workloads.flatMap(workload => {
    const live = unchangedIn(steps.get(workload)!)
    const status = live && statusOf(live)
    const isWell = !status || status.state === 'ready' || status.state === 'complete'
    return isWell ? [] : [{ workload, live, text: status.text }]
  })
  if (suspects.length === 0) return []
  const labels = environmentSelector(environment)
  const [pods, sets, warnings] = await Promise.all([
    cluster.list({ apiVersion: 'v1', kind: 'Pod', namespace, labels }, options),
    cluster.list({ apiVersion: 'apps/v1', kind: 'ReplicaSet', namespace, labels }, options),
    listWarnings(cluster, namespace, options),
  ])
  await addCapacityEvents(cluster, namespace, { pods, warnings }, options)
  return suspects.map(({ workload, live, text }) => {
    const own = pods.filter(pod => !isEnding(pod) && belongsTo(pod, live))
    const hasFailed = statusOf(live, newestPods(live, sets, own)).state === 'failed'
    const found = own.map(pod => ({ pod, problems: podProblems(pod, warnings.about(pod), now) }))
    const problems = [
      ...workloadProblems(live, warnings.about(live), sets),
      ...found.flatMap(({ problems }) => problems),
    ]
    const failing = found.filter(({ problems }) => problems.some(one => isStuckBy(one) && one.code !== 'unhealthy'))
    const [first] = problems
    return {
      workload,
      live,
      why: first ? SHORT[first.code] : text,
      isStuck: hasFailed || problems.some(isStuckBy),
      pods: failing.map(({ pod }) => pod),
      begun: found.filter(({ problems }) => !problems.some(isStuckBy)).map(({ pod }) => pod.metadata.uid),
    }
  })
}

/**
 * Returns true if waiting does not help, or helps only after a back-off, which can take minutes. A Pod that waits for a
 * node or a volume is not stuck, because it keeps its position in the queue.
 */
const isStuckBy = ({ code, isPassing, attemptedAt }: Problem): boolean =>
  !isPassing || code === 'image-pull' || attemptedAt !== undefined

/** Deletes the failing Pods, and triggers a reconcile of their controllers. Calls `done` for each Pod. */
export async function retryStuckWorkload(
  cluster: Cluster,
  { live, pods }: UnreadyWorkload,
  now: number,
  options: CallOptions,
  done: (pod: KubeObject) => void,
): Promise<void> {
  await requestReconcile(cluster, live, { annotation: RETRIED, manager: `${MANAGER}-retry`, now }, options)
  for (const pod of pods) if (await deleteObject(cluster, pod, 'Background', options)) done(pod)
}

/**
 * Returns the steps of a deploy, changed so that stuck Jobs are replaced. Deleting the Pods of a Job is no alternative,
 * because the Job counts them as failed.
 */
export function withJobsAgain(
  steps: ReadonlyMap<DesiredObject, Step>,
  unready: readonly UnreadyWorkload[],
): ReadonlyMap<DesiredObject, Step> {
  const jobs = new Map(unready.filter(isStuckJob).map(one => [one.workload as DesiredObject, one]))
  const again = (wanted: DesiredObject, step: Step): Step => {
    const job = jobs.get(wanted)
    if (!job) return step
    const reason = `the Job is stuck (${job.why}): it is created again`
    return { action: 'replace', wanted, object: wanted.object, live: job.live, reason, orphan: false }
  }
  return new Map([...steps].map(([wanted, step]) => [wanted, again(wanted, step)]))
}

/**
 * Returns the stuck workloads that are retried by deleting their Pods. Stuck Jobs are not included: they are replaced
 * instead.
 */
export const countRetries = (unready: readonly UnreadyWorkload[]): readonly UnreadyWorkload[] =>
  unready.filter(one => one.isStuck && !isStuckJob(one))

const isStuckJob = ({ isStuck, live }: UnreadyWorkload): boolean => isStuck && live.kind === 'Job'

/** Returns the live object of a workload whose Pods the step does not change; undefined for any other step. */
function unchangedIn(step: Step): KubeObject | undefined {
  if (step.action === 'unchanged') return step.live
  if (step.action !== 'update') return undefined
  return step.differences.some(({ keys }) => keys[0] === 'spec') ? undefined : step.live
}
