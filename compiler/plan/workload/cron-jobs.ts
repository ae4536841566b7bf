import type { Schedule, Triggers } from '../../compose/project.ts'
import { cutName } from '../object-names.ts'
import type { CronJobPlan } from '../plan.ts'

/** Seconds after its time in which a run that must not be late may start; controllers look every 10 s. */
const SHORT_DEADLINE = 60

/** Schedule of the suspended CronJob of a job that only users start; it never matters. */
export const MANUAL_SCHEDULE = '@yearly'
const NEVER: Schedule = { cron: MANUAL_SCHEDULE }

/**
 * Plans the CronJobs of a job: one for each schedule, or a suspended one if only users start the job. The first has the
 * name of the job, so that a further schedule does not rename it.
 */
export function planCronJobs(
  job: Pick<CronJobPlan, 'name' | 'service' | 'source' | 'span' | 'annotations'>,
  { schedules }: Triggers,
): readonly CronJobPlan[] {
  const { name, service, source, span, annotations } = job
  return (schedules.length > 0 ? schedules : [NEVER]).map((schedule, index) => {
    const deadline = deadlineOf(schedule)
    return {
      // The name of a CronJob has at most 52 characters, because Kubernetes appends the time of the run.
      name: index === 0 ? name : `${cutName(name, 49)}-${index + 1}`,
      ...{ service, source, ...(span && { span }), ...(annotations && { annotations }) },
      schedule: schedule.cron,
      ...(schedule.timeZone && { timeZone: schedule.timeZone }),
      concurrency: schedule.concurrency ? 'Forbid' : 'Allow',
      ...(deadline !== undefined && { startingDeadline: deadline }),
      ...(schedules.length === 0 && { suspended: true as const }),
    }
  })
}

/**
 * Returns the starting deadline of a schedule. `Forbid` starts a run late, when the last one ends, unless its deadline
 * has passed. That is `queue`; a short deadline makes it `forbid`.
 */
function deadlineOf({ concurrency, missedFires }: Schedule): number | undefined {
  if (concurrency === 'queue' || missedFires === 'one') return undefined
  return concurrency === 'forbid' || missedFires === 'skip' ? SHORT_DEADLINE : undefined
}
