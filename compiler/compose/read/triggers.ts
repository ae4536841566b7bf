import { diagnostic } from '../../diagnostics/diagnostic.ts'
import { didYouMean } from '../../diagnostics/suggest.ts'
import { get, isMap, isSeq, type MapTree, type Tree } from '../../text/tree.ts'
import { findCronFault } from '../../values/cron.ts'
import { neverFires } from '../../values/next-fire.ts'
import { findTimeZoneFault } from '../../values/time-zone.ts'
import type { Schedule, Triggers } from '../project.ts'
import type { ReadContext } from './context.ts'
import { keySpan, map, nonEmptyText, scalar } from './tree-values.ts'

const badCron = diagnostic({
  code: 'jobs/bad-cron',
  severity: 'error',
  explain: `The schedule of a job is a cron expression with five fields: minute, hour, day of the month, month, and day of the week (0 to 6, from Sunday). A field is \`*\`, a number, a range, or a list of these, with a step if needed; months and days may have their English short names. \`@hourly\`, \`@daily\`, \`@weekly\`, \`@monthly\` and \`@yearly\` are accepted, too, and intervals such as \`@every 90m\`, which count from the last run.

\`\`\`yaml
triggers:
  schedule:
    - "*/15 8-18 * * mon-fri"
\`\`\``,
  text: (p: { cron: string; fault: string; hint: string }) => ({
    message: `\`${p.cron}\` is not a valid cron expression: ${p.fault}`,
    hint: p.hint,
  }),
})
const badTimeZone = diagnostic({
  code: 'jobs/bad-timezone',
  severity: 'error',
  explain:
    'The time zone of a schedule is a name of the IANA time zone database, such as `Europe/Berlin` or `UTC`, in its exact spelling. Offsets and abbreviations are not allowed.',
  text: (p: { name: string; hint: string }) => ({ message: `\`${p.name}\` is not a time zone`, hint: p.hint }),
})
const noTrigger = diagnostic({
  code: 'jobs/no-trigger',
  severity: 'error',
  explain: `A job needs a trigger: a schedule, or \`manual: true\` if a user starts it with \`devctl run\`.

\`\`\`yaml
triggers:
  manual: true
\`\`\``,
  text: (_: Record<never, never>) => ({
    message: '`triggers` has no schedule and is not manual, so the job never runs',
    hint: 'add `schedule: ["0 3 * * *"]`, or `manual: true`',
  }),
})
const queueSkips = diagnostic({
  code: 'jobs/queue-skips',
  severity: 'warning',
  loss: true,
  explain:
    'A CronJob starts a run that was missed while the last one was running (`concurrency: queue`), or it skips all missed runs (`missed_fires: skip`), but it does not distinguish them. `queue` wins: a run that was missed for another reason is started once, too.',
  text: (_: Record<never, never>) => ({
    message: '`missed_fires: skip` has no effect with `concurrency: queue`: a CronJob starts one missed run',
    hint: 'remove `missed_fires`, or write `concurrency: forbid`',
  }),
})

const neverDue = diagnostic({
  code: 'jobs/never-due',
  severity: 'warning',
  explain: `No date fits the schedule, because the months that it names do not have the day. Kubernetes accepts such a schedule, and never starts a run. If only users start the job, say so:

\`\`\`yaml
triggers:
  manual: true
\`\`\``,
  text: (p: { cron: string }) => ({
    message: `\`${p.cron}\` never comes: no month that it names has this day, so Kubernetes never starts a run`,
    hint: 'correct the day or the month; for a job that only users start, write `manual: true`',
  }),
})

/** Reads `triggers` of a job. Reports invalid schedules, and a job that never runs. */
export function readTriggers(job: MapTree, { reporter }: ReadContext): Triggers | undefined {
  const tree = map(job, 'triggers')
  if (!tree) return undefined
  const span = keySpan(job, 'triggers') ?? tree.span
  const listed = get(tree, 'schedule')
  const items = isSeq(listed) ? listed.items : []
  if (items.length === 0 && scalar(tree, 'manual')?.value !== true) reporter.report(noTrigger, span, {})
  return { span, schedules: items.flatMap(item => readSchedule(item, reporter) ?? []) }
}

function readSchedule(tree: Tree, reporter: ReadContext['reporter']): Schedule | undefined {
  if (!isMap(tree)) return undefined
  const cron = nonEmptyText(tree, 'cron')
  const fault = findCronFault(cron?.value ?? '')
  if (fault) reporter.report(badCron, cron?.span ?? tree.span, { cron: cron?.value ?? '', ...fault })
  else if (cron && neverFires(cron.value)) reporter.report(neverDue, cron.span, { cron: cron.value })
  const zone = nonEmptyText(tree, 'timezone')
  const hint = zone && findTimeZoneFault(zone.value, didYouMean)
  if (hint) reporter.report(badTimeZone, zone.span, { name: zone.value, hint })
  // The check of shapes has refused other values.
  const concurrency = scalar(tree, 'concurrency')?.value as Schedule['concurrency']
  const missed = scalar(tree, 'missed_fires')
  const missedFires = missed?.value as Schedule['missedFires']
  if (missed && concurrency === 'queue' && missedFires === 'skip') reporter.report(queueSkips, missed.span, {})
  return {
    // Kubernetes does not accept blanks around a name.
    cron: cron?.value.trim() ?? '',
    ...(zone && { timeZone: zone.value }),
    ...(concurrency && { concurrency }),
    ...(missedFires && { missedFires }),
  }
}
