import type { Schedule, Triggers } from '../../compose/project.ts'
import { diagnostic } from '../../diagnostics/diagnostic.ts'
import type { Reporter } from '../../diagnostics/reporter.ts'
import { cutName } from '../object-names.ts'
import type { CronJobPlan, WorkloadPlan } from '../plan.ts'

const collision = diagnostic({
  code: 'jobs/collision',
  severity: 'error',
  explain:
    'Every schedule of a job is a CronJob of its own. That of the first schedule has the name of the job, the next ones are `NAME-2`, `NAME-3` and so on. Another job cannot have one of these names, because a namespace has one CronJob of a name. Rename one of the jobs.',
  text: (p: { name: string; job: string; schedule: number }) => ({
    message: `the job \`${p.name}\` collides with schedule ${p.schedule} of the job \`${p.job}\`: both are a CronJob \`${p.name}\``,
    hint: 'rename one of the jobs',
  }),
})

/**
 * Starting deadline, in seconds, of a run that must not start late. A much shorter deadline could miss runs, because
 * Kubernetes looks for due runs only every 10 seconds.
 */
const SHORT_DEADLINE = 60

/** Schedule in the CronJob of a job that only users start. It has no effect, because the CronJob is suspended. */
export const MANUAL_SCHEDULE = '@yearly'
const NEVER: Schedule = { cron: MANUAL_SCHEDULE }

/**
 * Plans the CronJobs of a job: one for each schedule, or a suspended one if only users start the job. The first CronJob
 * has the name of the job, so that a further schedule does not rename it.
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

/** Reports a job whose first CronJob has the same name as the CronJob for a further schedule of another job. */
export function checkCronJobNames(reporter: Reporter, workloads: readonly WorkloadPlan[]): void {
  const cronJobs = workloads.map(one => (one.kind === 'Job' && one.cronJobs) || [])
  const firsts = new Map(cronJobs.flatMap(([first]) => (first ? [[first.name, first] as const] : [])))
  for (const [, ...further] of cronJobs)
    for (const [index, { name, service: job }] of further.entries()) {
      const first = firsts.get(name)
      if (first) reporter.report(collision, first.span, { name, job, schedule: index + 2 })
    }
}

/**
 * Returns the starting deadline of a schedule in seconds; undefined if there is none. With `Forbid`, Kubernetes starts
 * a run late, when the previous run ends, unless its deadline has passed. Without a deadline, this is the behavior of
 * `queue`; with a short deadline, it is the behavior of `forbid`.
 */
function deadlineOf({ concurrency, missedFires }: Schedule): number | undefined {
  if (concurrency === 'queue' || missedFires === 'one') return undefined
  return concurrency === 'forbid' || missedFires === 'skip' ? SHORT_DEADLINE : undefined
}
