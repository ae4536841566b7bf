import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { MANUAL_SCHEDULE } from '../../compiler/plan/workload/cron-jobs.ts'
import { neverFires, nextFire } from '../../compiler/values/next-fire.ts'
import { scaledFrom } from '../apply/scaled.ts'
import { serviceOf } from '../plan/desired-state.ts'
import { statusOf } from '../rollout/status.ts'
import { isDependant } from './owners.ts'

/** Cause of a run: a schedule, a user (`devctl run`), or a deploy of a service that is a Job. */
export type RunTrigger = 'schedule' | 'manual' | 'deploy'

export type JobRunState = 'waiting' | 'running' | 'succeeded' | 'failed'

/** A run of a job or service. */
export interface JobRun {
  /** Name of the Job. */
  readonly name: string
  readonly trigger: RunTrigger
  readonly state: JobRunState
  /** Start in RFC 3339; absent if the run has not begun. */
  readonly started?: string
  /** End in RFC 3339; absent if the run has not ended. */
  readonly ended?: string
  /**
   * Milliseconds from the start to the end of the run, or until now if the run has not ended; absent if the run has not
   * begun.
   */
  readonly duration?: number
  /** Exit status of the run's container; absent if the container still runs, or if the Pod no longer exists. */
  readonly exitStatus?: number
}

export interface JobSchedule {
  readonly cron: string
  /** Name of the time zone in the IANA database. If absent, the time zone of the cluster's controllers, usually UTC. */
  readonly timeZone?: string
  readonly suspended: boolean
  /**
   * Start of the next run in RFC 3339; absent if the schedule is suspended, if no date fits the schedule, or if the
   * time is unknown.
   */
  readonly nextRun?: string
  /** Set if no date fits the schedule, so that Kubernetes never starts a run. */
  readonly isNever?: true
}

/** Job of an environment, or a service that has runs. */
export interface JobOverview {
  /** Name in the cluster. */
  readonly job: string
  /** Usual cause of a run; `manual` also for a service that is not a job, but has runs that users started. */
  readonly trigger: RunTrigger
  readonly schedules: readonly JobSchedule[]
  /** True if all schedules of the job are suspended; false if the job has no schedule. */
  readonly suspended: boolean
  readonly nextRun?: string
  /** Start of the newest run, even if the run no longer exists. */
  readonly lastRun?: string
  /** Runs that the cluster still knows, newest first. */
  readonly runs: readonly JobRun[]
}

/**
 * Returns the jobs of an environment, and its other services that have runs, sorted by name. A job is a service with a
 * Job or CronJob among `objects`. The exit statuses are read from the Pods, if `objects` contains any. `now` is in
 * milliseconds since 1970.
 */
export function listJobs(objects: readonly KubeObject[], now: number): readonly JobOverview[] {
  const workloads = objects.filter(one => !isDependant(one) && serviceOf(one) !== undefined)
  const pods = podsOfRuns(objects)
  const runsBy = new Map<string | undefined, JobRun[]>()
  for (const one of objects) {
    if (one.kind !== 'Job') continue
    const owner = one.metadata.ownerReferences?.[0]?.uid ?? one.metadata.uid
    addTo(runsBy, owner, toRun(one, pods.get(one.metadata.name), now))
  }
  const services = new Map<string, KubeObject[]>()
  for (const one of workloads) addTo(services, serviceOf(one)!, one)
  return [...services]
    .flatMap(([job, own]) => {
      const of = own.filter(({ kind }) => ['Deployment', 'StatefulSet', 'DaemonSet', 'Job', 'CronJob'].includes(kind))
      const runs = of.flatMap(({ metadata }) => runsBy.get(metadata.uid) ?? []).sort(newestFirst)
      const isJob = of.some(({ kind }) => kind === 'Job' || kind === 'CronJob')
      return isJob || runs.length > 0 ? [toJob(job, of, runs, now)] : []
    })
    .sort((a, b) => (a.job < b.job ? -1 : 1))
}

/** Adds a value to the list that a map has for a key; creates the list if there is none. */
function addTo<Key, Value>(lists: Map<Key, Value[]>, key: Key, value: Value): void {
  const list = lists.get(key)
  if (list) list.push(value)
  else lists.set(key, [value])
}

/** Compares two runs by their start, newest first. A run that has not begun counts as the newest. */
const newestFirst = (a: JobRun, b: JobRun): number => ((a.started ?? '~') < (b.started ?? '~') ? 1 : -1)

interface CronJobFields {
  readonly spec?: { readonly schedule?: string; readonly timeZone?: string; readonly suspend?: boolean }
  readonly status?: { readonly lastScheduleTime?: string }
}

function toJob(job: string, workloads: readonly KubeObject[], runs: readonly JobRun[], now: number): JobOverview {
  const cronJobs = workloads.filter(({ kind }) => kind === 'CronJob')
  const schedules = cronJobs.filter(one => !isManual(one)).map(one => toSchedule(one, now))
  const [nextRun] = schedules.flatMap(one => one.nextRun ?? []).sort()
  const scheduled = cronJobs.flatMap(one => (one as CronJobFields).status?.lastScheduleTime ?? [])
  const [lastRun] = [...runs.flatMap(one => one.started ?? []), ...scheduled].sort().reverse()
  return {
    job,
    trigger: schedules.length > 0 ? 'schedule' : workloads.some(({ kind }) => kind === 'Job') ? 'deploy' : 'manual',
    schedules,
    suspended: schedules.length > 0 && schedules.every(({ suspended }) => suspended),
    ...(nextRun !== undefined && { nextRun }),
    ...(lastRun !== undefined && { lastRun }),
    runs,
  }
}

/** Returns true for the CronJob of a job without a schedule, which `stop` never suspends. */
export function isManual(cronJob: KubeObject): boolean {
  const { spec = {} } = cronJob as CronJobFields // the server has checked its shape
  if (cronJob.kind !== 'CronJob' || spec.schedule !== MANUAL_SCHEDULE) return false
  return spec.suspend === true && scaledFrom(cronJob) === undefined
}

function toSchedule(cronJob: KubeObject, now: number): JobSchedule {
  const { spec = {}, status } = cronJob as CronJobFields // the server has checked its shape
  const { schedule: cron = '', timeZone, suspend: suspended = false } = spec
  // The controller counts intervals from the last run that was due.
  const begun = Date.parse(status?.lastScheduleTime ?? cronJob.metadata.creationTimestamp ?? '')
  const next = suspended ? undefined : nextFire(cron, timeZone ?? 'UTC', now, Number.isNaN(begun) ? undefined : begun)
  return {
    cron,
    ...(timeZone !== undefined && { timeZone }),
    suspended,
    // Times of the cluster have whole seconds, too.
    ...(next !== undefined && { nextRun: new Date(next).toISOString().replace('.000Z', 'Z') }),
    ...(next === undefined && neverFires(cron) && { isNever: true as const }),
  }
}

interface JobFields {
  readonly status?: {
    readonly startTime?: string
    readonly completionTime?: string
    readonly conditions?: readonly {
      readonly type: string
      readonly status: string
      readonly lastTransitionTime?: string
    }[]
  }
}

function toRun(job: KubeObject, pod: RunPod | undefined, now: number): JobRun {
  const { status = {} } = job as JobFields // the server has checked its shape
  const { state } = statusOf(job)
  const isOver = state === 'complete' || state === 'failed'
  const end = status.conditions?.find(one => ['Complete', 'Failed'].includes(one.type) && one.status === 'True')
  const ended = isOver ? (status.completionTime ?? end?.lastTransitionTime) : undefined
  const started = status.startTime
  const last = isOver ? Date.parse(ended ?? '') : now
  const duration = started === undefined || Number.isNaN(last) ? undefined : Math.max(0, last - Date.parse(started))
  const owner = job.metadata.ownerReferences?.[0]
  const isManualRun =
    owner?.kind !== 'CronJob' || 'cronjob.kubernetes.io/instantiate' in (job.metadata.annotations ?? {})
  return {
    name: job.metadata.name,
    trigger: !owner ? 'deploy' : isManualRun ? 'manual' : 'schedule',
    state: state === 'complete' ? 'succeeded' : state === 'failed' ? 'failed' : pod?.isRunning ? 'running' : 'waiting',
    ...(started !== undefined && { started }),
    ...(ended !== undefined && { ended }),
    ...(duration !== undefined && { duration }),
    ...(isOver && pod?.exitStatus !== undefined && { exitStatus: pod.exitStatus }),
  }
}

interface PodFields {
  readonly spec?: { readonly containers?: readonly { readonly name: string }[] }
  readonly status?: {
    readonly phase?: string
    readonly containerStatuses?: readonly {
      readonly name: string
      readonly state?: { readonly terminated?: { readonly exitCode: number } }
    }[]
  }
}

/** State of the newest Pod of a run. */
interface RunPod {
  readonly isRunning: boolean
  /** First exit status that is not 0, or else 0; undefined while no container has ended. */
  readonly exitStatus: number | undefined
}

/** Returns the state of the newest Pod of each run, by the name of the run's Job. */
function podsOfRuns(objects: readonly KubeObject[]): ReadonlyMap<string, RunPod> {
  const pods = objects
    .filter(({ kind, metadata }) => kind === 'Pod' && metadata.labels?.['job-name'] !== undefined)
    .sort((a, b) => ((a.metadata.creationTimestamp ?? '') < (b.metadata.creationTimestamp ?? '') ? -1 : 1))
  return new Map(
    pods.map(pod => {
      const { phase, containerStatuses = [] } = (pod as PodFields).status ?? {} // a Pod's status
      const codes = containerStatuses.flatMap(({ state }) => state?.terminated?.exitCode ?? [])
      const exitStatus = codes.find(code => code !== 0) ?? codes[0]
      return [pod.metadata.labels!['job-name']!, { isRunning: phase === 'Running', exitStatus }]
    }),
  )
}
