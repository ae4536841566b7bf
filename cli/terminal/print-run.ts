import { problemLines, toldProblem } from '../../compiler/diagnostics/told-problem.ts'
import { readableDuration } from '../../compiler/values/numbers/readable-duration.ts'
import { printable } from '../../compiler/values/printable.ts'
import type { Run, RunEvent } from '../../platform/api/runs.ts'
import type { Context } from '../command.ts'
import type { Progress, StepEvent } from './progress/events.ts'
import { printSummary } from './report.ts'
import { statesText } from './service-states-text.ts'

/**
 * Prints a run in the cluster like a deploy from this machine: its progress, its diagnostics and its public addresses.
 * Returns the exit status when the run has ended, or 1 if the platform reports no end. `onError` receives the errors
 * that the run reports, as printed.
 */
export async function printRun(
  context: Pick<Context, 'io' | 'logLevel'>,
  progress: Progress,
  events: AsyncIterable<RunEvent>,
  onError?: (text: string) => void,
): Promise<number> {
  const { io, logLevel } = context
  let result: Fields | undefined
  let last: Run | undefined
  for await (const event of events) {
    if (event.type === 'state') {
      last = event.run
      if (last.state === 'queued') progress.tell({ type: 'note', text: 'waits for its turn' })
      continue
    }
    const said = event.step === 'run' ? toObject(event.text) : undefined
    const step = said && toStep(said)
    if (said?.['type'] === 'result') result = said
    else if (step) progress.tell(step)
    else if (said?.['type'] === 'diagnostic') {
      progress.pause()
      // The files are not on this machine, so the source line is omitted.
      const lines = problemLines(toldProblem(said)).flatMap(line => line.split('\n'))
      const text = lines.map(line => `${printable(line)}\n`).join('')
      io.stderr.write(text)
      if (said['severity'] === 'error') onError?.(text)
    } else if (said?.['type'] === undefined) progress.above(() => io.stderr.write(`${printable(event.text)}\n`))
  }
  progress.pause()
  if (!last) return 1
  // The output of a destroy already includes its result.
  if (last.state === 'succeeded' && last.action === 'deploy') printSummary(doneText(last, result), io, logLevel)
  else if (last.state !== 'succeeded') io.stderr.write(`${endText(last)}\n`)
  const endpoints = result?.['endpoints']
  if (Array.isArray(endpoints)) for (const url of endpoints) io.stdout.write(`  ${printable(String(url))}\n`)
  return last.state === 'succeeded' ? 0 : 1
}

/** Returns the summary of a successful run: `shop is deployed to team: 2 ready (12 s)`. */
function doneText({ environment, namespace, started, ended }: Run, result: Fields | undefined): string {
  const took =
    started !== undefined && ended !== undefined
      ? ` (${readableDuration(Math.max(0, Date.parse(ended) - Date.parse(started)))})`
      : ''
  const services = result?.['services']
  const states = new Map(Object.entries(isFields(services) ? services : {}).filter(([, state]) => isText(state)))
  const counted = states.size > 0 ? `: ${statesText(states as Parameters<typeof statesText>[0], true)}` : ''
  return `${environment} is ${result?.['isUpToDate'] === true ? 'up to date in' : 'deployed to'} ${namespace}${counted}${took}`
}

const ENDS: Readonly<Record<string, string>> = {
  failed: 'failed',
  cancelled: 'was cancelled',
  replaced: 'was replaced by a newer one',
  refused: 'was refused',
}

const endText = ({ action, environment, namespace, state, reason }: Run): string =>
  `the ${action} of ${environment} in ${namespace} ${ENDS[state] ?? 'did not end'}${reason === undefined ? '' : `: ${printable(reason)}`}`

type Fields = Readonly<Record<string, unknown>>

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isText = (value: unknown): value is string => typeof value === 'string'

function toObject(line: string): Fields | undefined {
  if (!line.startsWith('{')) return undefined
  try {
    const value: unknown = JSON.parse(line)
    return isFields(value) ? value : undefined
  } catch {
    return undefined
  }
}

/**
 * Text fields that an event of each type must have to be shown as progress. An event that lacks one of them comes from
 * another version of devctl, and is not shown.
 */
const TEXTS: Readonly<Record<string, readonly string[]>> = {
  step: ['step', 'text'],
  status: ['service', 'state', 'text'],
  object: ['action', 'object'],
  output: ['command', 'stream', 'text'],
  note: ['text'],
  waiting: ['service'],
}

function toStep(said: Fields): StepEvent | undefined {
  const { type, time: _, ...rest } = said
  const keys = isText(type) && Object.hasOwn(TEXTS, type) ? TEXTS[type] : undefined
  if (!keys?.every(key => isText(rest[key]))) return undefined
  if (type === 'waiting' && !(Array.isArray(rest['for']) && rest['for'].every(isText))) return undefined
  return { type, ...rest } as StepEvent // its fields were looked at
}
