import { problemLines, type ToldProblem, toldProblem } from '../../../compiler/diagnostics/told-problem.ts'
import type { Run, RunEvent } from '../../api/runs.ts'
import { hasEnded } from '../../rules/runs/run-states.ts'

export type RunLogLine = Extract<RunEvent, { type: 'line' }>

/** Steps of a run, in order. */
export const RUN_STEPS = ['clone', 'build', 'deploy'] as const
export type RunStep = (typeof RUN_STEPS)[number]

type Tone = 'good' | 'busy' | 'warn' | 'bad' | 'quiet'

/** A line in the form that is shown to users. */
export interface ReadLine {
  readonly number: number
  readonly step: RunStep
  readonly time: string
  /** Subject of the line, such as a service, a step, or a command. */
  readonly about?: string
  readonly tone?: Tone
  /** May contain ANSI escapes. */
  readonly text: string
  /** Public URLs to show at the end of the line. */
  readonly endpoints?: readonly string[]
  /** Type of the event. Absent for a line of text. */
  readonly type?: string
  readonly problem?: ToldProblem
}

type Fields = Readonly<Record<string, unknown>>

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
const textsOf = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter(one => typeof one === 'string') : []

/** Parses a line of a run: an object that `--output json` prints, or text. Unknown objects are shown unchanged. */
export function readRunLine({ number, step, time, text }: RunLogLine): ReadLine {
  if (step === 'clone') {
    const isError = text.startsWith('error:')
    return { number, step, time, text, ...(isError && { tone: 'bad' as const }) }
  }
  const said = toObject(text)
  const type = textOf(said?.['type'])
  const read = said && Object.hasOwn(READERS, type) ? READERS[type]?.(said) : undefined
  if (!read) return { number, step: 'deploy', time, text }
  return { number, step: type.startsWith('build-') ? 'build' : 'deploy', time, type, ...read }
}

type Read = (said: Fields) => Pick<ReadLine, 'about' | 'tone' | 'text' | 'endpoints' | 'problem'> | undefined

const TONES: Readonly<Record<string, Tone>> = {
  ready: 'good',
  complete: 'good',
  waiting: 'busy',
  failed: 'bad',
  error: 'bad',
  warning: 'warn',
  done: 'good',
  cached: 'good',
  running: 'busy',
  cancelled: 'quiet',
  built: 'good',
  present: 'good',
  skipped: 'quiet',
}
const toneOf = (word: unknown) => {
  const tone = Object.hasOwn(TONES, textOf(word)) ? TONES[textOf(word)] : undefined
  return tone && { tone }
}
/** Returns the fields of a line. The field `about`, the subject, is only set if `what` is a non-empty text. */
const about = (what: unknown, text: string, more: object = {}) =>
  textOf(what) === '' ? { text, ...more } : { about: textOf(what), text, ...more }

const READERS: Readonly<Record<string, Read>> = {
  step: ({ step, text }) => about(step, textOf(text)),
  status: ({ service, state, text }) => about(service, textOf(text), toneOf(state)),
  object: ({ action, object }) => about(action, textOf(object)),
  note: ({ text }) => ({ text: textOf(text) }),
  waiting: said => about(said['service'], `waits for ${textsOf(said['for']).join(', ')}`),
  output: ({ command, text }) => about(command, textOf(text)),
  diagnostic: said => {
    const problem = toldProblem(said)
    return { text: problemLines(problem).join('\n'), ...toneOf(problem.severity), problem }
  },
  result: said => resultOf(said),
  'build-begun': ({ name, reference }) => about(name, `builds ${textOf(reference)}`),
  'build-step': ({ name, step, text, state, seconds, error }) =>
    about(
      name,
      [`#${Number(step)} ${textOf(text)}`, textOf(state), secondsOf(seconds), textOf(error)]
        .filter(Boolean)
        .join(' · '),
      toneOf(state),
    ),
  'build-log': ({ name, text }) => about(name, textOf(text)),
  'build-warning': ({ name, text }) => about(name, textOf(text), { tone: 'warn' }),
  'build-retry': ({ name, reason, attempt, of }) =>
    about(name, `retry ${Number(attempt)} of ${Number(of)}: ${textOf(reason)}`, { tone: 'warn' }),
  'build-ended': ({ name, outcome, digest, seconds }) =>
    about(name, [textOf(outcome), textOf(digest), secondsOf(seconds)].filter(Boolean).join(' · '), toneOf(outcome)),
}

const secondsOf = (value: unknown): string =>
  typeof value === 'number' && Number.isFinite(value) ? `${value.toFixed(1)} s` : ''

function resultOf({ environment, namespace, services, endpoints, isUpToDate, failed }: Fields) {
  const states = isFields(services) ? Object.values(services) : []
  const ready = states.filter(one => one === 'ready').length
  const isBad = ready < states.length || textsOf(failed).length > 0
  const what = isUpToDate === true ? 'is up to date in' : 'is deployed to'
  return {
    text: `${textOf(environment)} ${what} ${textOf(namespace)}: ${ready} of ${states.length} ready`,
    tone: isBad ? ('bad' as const) : ('good' as const),
    endpoints: textsOf(endpoints),
  }
}

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
 * A phase of a run; `stopped`: the run was cancelled or replaced during it; `skipped`: it was not needed; `waiting`: it
 * has not begun.
 */
export interface RunPhase {
  readonly name: 'queue' | RunStep | 'ready'
  readonly state: 'done' | 'active' | 'failed' | 'stopped' | 'skipped' | 'waiting'
  /** Duration in milliseconds, if the phase has ended. */
  readonly took?: number
}

/** Times of the first and the last known line of each step. */
export interface SeenSteps {
  readonly first: Readonly<Partial<Record<RunStep, string>>>
  readonly last: Readonly<Partial<Record<RunStep, string>>>
}

/**
 * Maximum numbers of lines and of characters in the log that a page keeps, because a run may write more than a browser
 * can hold.
 */
const MOST = { lines: 100_000, letters: 16_000_000 }
/** Maximum number of errors that a page shows above the log. */
const ERRORS = 10

/** The lines of a run that a page keeps, by step. If there are more than `MOST` allows, older lines are dropped. */
export class KeptLog {
  readonly #steps: Record<RunStep, ReadLine[]> = { clone: [], build: [], deploy: [] }
  readonly #first: Partial<Record<RunStep, string>> = {}
  readonly #errors: ReadLine[] = []
  readonly #most: typeof MOST
  #number = 0
  #lines = 0
  #letters = 0
  #left = 0

  constructor(most = MOST) {
    this.#most = most
  }

  get steps(): Readonly<Record<RunStep, readonly ReadLine[]>> {
    return this.#steps
  }

  /**
   * The first lines that report an error, at most `ERRORS`. They are kept even when older lines of their steps are
   * dropped.
   */
  get errors(): readonly ReadLine[] {
    return this.#errors
  }

  /** Number of lines that were dropped. */
  get left(): number {
    return this.#left
  }

  get seen(): SeenSteps {
    const last = RUN_STEPS.flatMap(step =>
      this.#steps[step].length > 0 ? [[step, this.#steps[step].at(-1)?.time]] : [],
    )
    return { first: this.#first, last: Object.fromEntries(last) }
  }

  /** Adds a received line. Ignores lines that were received before. */
  add(line: RunLogLine): void {
    if (line.number <= this.#number) return
    this.#number = line.number
    const one = readRunLine(line)
    this.#steps[one.step].push(one)
    this.#first[one.step] ??= one.time
    if (one.problem?.severity === 'error' && this.#errors.length < ERRORS) this.#errors.push(one)
    this.#lines++
    this.#letters += one.text.length
    if (this.#lines > this.#most.lines || this.#letters > this.#most.letters) this.#shorten()
  }

  /**
   * Drops the older half of the step with the most lines, so that the next shortening is only necessary after many more
   * lines.
   */
  #shorten(): void {
    const [longest] = RUN_STEPS.map(step => this.#steps[step]).sort((a, b) => b.length - a.length)
    const gone = longest?.splice(0, Math.ceil(longest.length / 2)) ?? []
    this.#left += gone.length
    this.#lines -= gone.length
    this.#letters -= gone.reduce((sum, { text }) => sum + text.length, 0)
  }
}

/**
 * Returns the progress of a run: queue, clone, build, deploy, ready. A destroy has neither a build nor a ready phase.
 */
export function phasesOf(run: Run, { first, last }: SeenSteps): readonly RunPhase[] {
  const isOver = hasEnded(run.state)
  const isGood = run.state === 'succeeded'
  const steps = RUN_STEPS.filter(step => run.action === 'deploy' || step !== 'build')
  // A step is over if a later step has written a newer line.
  const times = steps.map(step => (last[step] === undefined ? -1 : timeOf(last[step])))
  const reached = times.reduce((best, at, index) => (at >= 0 && at >= (times[best] ?? 0) ? index : best), 0)
  const ended = run.state === 'failed' || run.state === 'refused' ? 'failed' : 'stopped'
  const queue: RunPhase =
    run.started === undefined
      ? { name: 'queue', state: isOver ? ended : 'active' }
      : { name: 'queue', state: 'done', ...between(timeOf(run.created), timeOf(run.started)) }
  const phaseOf = (name: RunStep, index: number): RunPhase => {
    if (run.started === undefined) return { name, state: 'waiting' }
    // A step begins after the earlier ones, even if it has written a line before: a deploy does so before the builds.
    const begun = index === 0 ? timeOf(run.started) : Math.max(timeOf(first[name]), ...times.slice(0, index))
    const time = between(begun, timeOf(last[name]))
    const isDone = index < reached || (isOver && isGood)
    if (isDone) return { name, state: first[name] === undefined ? 'skipped' : 'done', ...time }
    if (index > reached) return { name, state: 'waiting' }
    return isOver ? { name, state: ended, ...time } : { name, state: 'active' }
  }
  const ready: RunPhase = { name: 'ready', state: isGood ? 'done' : 'waiting' }
  return [queue, ...steps.map(phaseOf), ...(run.action === 'deploy' ? [ready] : [])]
}

const timeOf = (time: string | undefined): number => Date.parse(time ?? '')

function between(from: number, to: number): { readonly took?: number } {
  const took = to - from
  return Number.isNaN(took) ? {} : { took: Math.max(0, took) }
}
