import type { KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import { type JobOverview, type JobRun, listJobs } from '../../../environment/status/jobs.ts'
import { isDependant } from '../../../environment/status/owners.ts'
import type { ShownJob, ShownJobRun } from '../../api/environments.ts'

/** Maximum number of schedules in one environment, because the next run of each takes time to compute. */
const MOST_SCHEDULES = 100
/** Maximum length of a schedule or time zone in characters. */
const LONGEST = 200

/**
 * Returns the jobs of an environment with their last runs, sorted by name. Services that are Jobs, and commands that
 * ran in the containers of services, are not among them. `now` is in milliseconds since 1970.
 */
export function shownJobs(objects: Iterable<KubeObject>, now: number): ShownJob[] {
  let schedules = 0
  const isOfJob = (one: KubeObject): boolean => {
    if (one.kind === 'CronJob') return schedules++ < MOST_SCHEDULES
    return one.kind === 'Pod' || (one.kind === 'Job' && isDependant(one))
  }
  return listJobs([...objects].filter(isOfJob), now).map(toShown)
}

function toShown({ job, schedules, suspended, nextRun, lastRun, runs: [last] }: JobOverview): ShownJob {
  const run = last && isNewest(last, lastRun) ? last : undefined
  return {
    name: job,
    schedules: schedules.map(({ cron, timeZone }) => ({
      cron: cut(cron),
      ...(timeZone !== undefined && { timeZone: cut(timeZone) }),
    })),
    ...(suspended && { isSuspended: true }),
    ...(nextRun !== undefined && { nextRun }),
    ...(run ? { lastRun: toShownRun(run) } : lastRun !== undefined && { lastRun: { started: lastRun } }),
  }
}

/**
 * Returns true if no later run of the job was started. The newest run that still exists may be an older one, because
 * later runs can have been deleted.
 */
const isNewest = ({ started }: JobRun, lastRun: string | undefined): boolean =>
  started === undefined || lastRun === undefined || started >= lastRun

/** Returns a run without its duration, which changes all the time while the run lasts. */
const toShownRun = ({ state, started, ended, exitStatus }: JobRun): ShownJobRun => ({
  state,
  ...(started !== undefined && { started }),
  ...(ended !== undefined && { ended }),
  ...(exitStatus !== undefined && { exitStatus }),
})

const cut = (text: string): string => (text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text)
