import { readableDuration } from '../../compiler/values/numbers/readable-duration.ts'
import type { JobOverview, JobRun, JobSchedule } from '../../environment/status/jobs.ts'
import type { Context } from '../command.ts'
import type { JobsValues } from '../commands/jobs.ts'
import { ageText } from '../terminal/age-text.ts'
import { listText } from '../terminal/print-list.ts'
import { printsDiagnostics } from '../terminal/report.ts'
import { toTable } from '../terminal/table.ts'
import { withProject } from './project-session.ts'

/** Maximum number of runs that `--output text` lists for each job. */
const RUNS = 3

/** Prints the named jobs of an environment, or all, with their last runs. */
export async function showJobs(context: Context, words: readonly string[], options: JobsValues): Promise<number> {
  return withProject(context, { ...options, var: undefined, timeout: undefined }, async (own, project, session) => {
    const { jobs } = await import('../../operations/list/jobs.ts')
    const { io, logLevel } = own
    const world = { workspace: io, session, on: printsDiagnostics(own) }
    const { environment, namespace, jobs: rows, now } = await jobs(world, { ...options, services: words }, project)
    if (rows.length === 0 && (options.output === 'text' || options.output === 'wide')) {
      if (logLevel !== 'error') io.stderr.write(`${environment} has no jobs in ${namespace}\n`)
      return 0
    }
    const text = () => jobsText(rows, now, options.output === 'wide' ? undefined : RUNS)
    io.stdout.write(
      await listText(options.output, { records: rows.map(toRecord), names: rows.map(({ job }) => job), text }),
    )
    return 0
  })
}

/** Returns the record of a job, with times in RFC 3339 and durations in seconds. */
export const toRecord = ({ schedules, runs, ...job }: JobOverview): object => ({
  ...job,
  schedules: schedules.map(({ isNever, ...schedule }) => ({ ...schedule, ...(isNever && { never: true }) })),
  runs: runs.map(({ duration, ...run }) => ({
    ...run,
    ...(duration !== undefined && { durationSeconds: duration / 1000 }),
  })),
})

/**
 * Formats jobs as a table, followed by their newest runs: at most `most` runs of each job, or all runs if `most` is
 * undefined.
 */
export function jobsText(jobs: readonly JobOverview[], now: number, most: number | undefined): string {
  const table = toTable([
    ['Job', 'Trigger', 'Next run', 'Last run', 'Status'],
    ...jobs.map(one => [
      one.job,
      triggerText(one),
      nextText(one, now),
      one.lastRun === undefined ? 'never' : agoText(one.lastRun, now),
      one.runs[0] ? statusText(one.runs[0]) : '',
    ]),
  ])
  const runs = jobs.flatMap(({ job, runs }) =>
    runs
      .slice(0, most)
      .map(one => [
        job,
        one.name,
        one.trigger,
        statusText(one),
        one.started === undefined ? '' : agoText(one.started, now),
        one.duration === undefined ? '' : readableDuration(one.duration),
      ]),
  )
  if (runs.length === 0) return table
  return `${table}\n${toTable([['Job', 'Run', 'Started by', 'Status', 'Started', 'Duration'], ...runs])}`
}

function nextText({ schedules, suspended, nextRun }: JobOverview, now: number): string {
  if (suspended) return 'suspended'
  if (nextRun !== undefined) return `in ${ageText(Date.parse(nextRun) - now)}`
  const open = schedules.filter(one => !one.suspended)
  return open.length === 0 ? '' : open.every(({ isNever }) => isNever) ? 'never' : 'unknown'
}

const agoText = (time: string, now: number): string => `${ageText(now - Date.parse(time))} ago`

function triggerText({ trigger, schedules }: JobOverview): string {
  if (trigger === 'schedule') return schedules.map(scheduleText).join(', ')
  return trigger === 'deploy' ? 'each deploy' : 'devctl run'
}

const scheduleText = ({ cron, timeZone }: JobSchedule): string => (timeZone ? `${cron} ${timeZone}` : cron)

const statusText = ({ state, exitStatus }: JobRun): string =>
  state === 'failed' && exitStatus ? `failed (exit status ${exitStatus})` : state
