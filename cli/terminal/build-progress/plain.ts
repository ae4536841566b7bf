import type { BuildEvent } from '../../../builds/events.ts'
import type { BuildChange, BuildProgress, BuildView, StepView } from '../../../builds/progress.ts'
import { readableDuration } from '../../../compiler/values/numbers/readable-duration.ts'
import type { Output } from '../io.ts'
import { cleanText } from '../log-text.ts'
import type { Progress } from '../progress/events.ts'
import { bytesText, endText, failureLines, retryText, stepText } from './text.ts'

export interface DisplayOptions {
  readonly progress: BuildProgress
  readonly seconds: () => number
  readonly colour: boolean
}

/**
 * Delay before the end of a step is printed, in seconds. BuildKit first looks up a step and reports it as completed,
 * and only then starts it.
 */
const SETTLED = 0.2
/** Minimum interval between two byte counts of a step, in seconds. */
const BETWEEN_COUNTS = 5

/** Returns a display that prints one line per event, for logs and pipelines. */
export function plainBuilds(output: Output, { progress, seconds, colour }: DisplayOptions): Progress<BuildEvent> {
  const write = (text: string) => output.write(`${cleanText(text, colour)}\n`)
  const steps = new PlainSteps(write)
  let timer: NodeJS.Timeout | undefined
  const settle = () => {
    timer = undefined
    steps.settle(seconds())
    if (steps.isUnsettled) timer = setTimeout(settle, SETTLED * 1000).unref()
  }
  return {
    tell(event) {
      const now = seconds()
      for (const change of inOrder(progress.take(event, now))) steps.take(change, now)
      steps.settle(now)
      if (event.type !== 'build-status') {
        steps.endAll(event.name)
        const build = progress.builds.find(({ name }) => name === event.name)!
        write(`${event.name === '' ? '' : `${event.name}: `}${lineOf(event, build)}`)
      } else if (steps.isUnsettled) timer ??= setTimeout(settle, SETTLED * 1000).unref()
    },
    above: print => print(),
    makeRoom() {},
    pause() {
      clearTimeout(timer)
      timer = undefined
      for (const build of progress.builds) {
        steps.endAll(build.name)
        if (build.state === 'failed') for (const line of failureLines(build)) write(line)
      }
      progress.forgetEnded()
    },
  }
}

function lineOf(event: Exclude<BuildEvent, { type: 'build-status' }>, build: BuildView): string {
  if (event.type === 'build-begun') return `building ${build.reference}`.trimEnd()
  if (event.type === 'build-retry') return retryText(build.retry!)
  const text = endText(build)
  return event.outcome === 'built' ? `${text} in ${readableDuration(event.seconds * 1000)}` : text
}

/** Prints the steps of builds, each with its number. */
class PlainSteps {
  readonly #write: (text: string) => void
  /** Steps whose name was printed and that have not ended. */
  readonly #named = new Set<number>()
  /** Completed steps whose end is not printed yet, with the time at which they ended, in seconds. */
  readonly #ended = new Map<number, { readonly build: string; readonly step: StepView; readonly since: number }>()
  readonly #counted = new Map<number, number>()
  /**
   * Numbers of the steps that succeeded, by build and digest. If a build is retried, these steps are not printed again.
   */
  readonly #before = new Map<string, number>()
  /** Number of the step in the last printed line. */
  #last = 0

  constructor(write: (text: string) => void) {
    this.#write = write
  }

  get isUnsettled(): boolean {
    return this.#ended.size > 0
  }

  take(change: BuildChange, now: number): void {
    const { name } = change.build
    if (change.type === 'warning') this.#write(`${name === '' ? '' : `${name}: `}warning: ${change.text}`)
    else if (change.step.number === 0) return
    else if (change.type === 'log') this.#print(name, change.step, `${change.seconds.toFixed(3)} ${change.line}`)
    else if (change.type === 'bytes') this.#count(name, change.step, now)
    else this.#state(name, change.step, now)
  }

  /** Prints the ends of all steps that ended at least `SETTLED` seconds ago and have not started again. */
  settle(now: number): void {
    for (const [number, ended] of this.#ended) if (now - ended.since >= SETTLED) this.#end(number, ended)
  }

  /** Prints the ends of a build's steps, except for the step `except`. */
  endAll(build: string, except?: number): void {
    for (const [number, ended] of this.#ended) if (ended.build === build && number !== except) this.#end(number, ended)
  }

  #state(build: string, step: StepView, now: number): void {
    const { number } = step
    const isKnown = (this.#before.get(`${build} ${step.digest}`) ?? number) !== number
    if (isKnown && (step.state === 'running' || !isBad(step))) return
    if (!this.#named.has(number) && !isKnown) this.#name(build, step)
    if (step.state === 'running') this.#ended.delete(number)
    else if (!isBad(step)) this.#ended.set(number, { build, step, since: now })
    else this.#print(build, step, stateText(step))
  }

  /** Prints the step's name, after the ends of earlier steps. */
  #name(build: string, step: StepView): void {
    this.endAll(build, step.number)
    this.#named.add(step.number)
    this.#line(step.number, stepText(build, step))
  }

  /** Prints a line of a step below its name. Repeats the name if the previous line belongs to another step. */
  #print(build: string, step: StepView, text: string): void {
    if (this.#last !== step.number) this.#name(build, step)
    this.#line(step.number, text)
  }

  #line(number: number, text: string): void {
    this.#last = number
    this.#write(`#${number} ${text}`)
  }

  /** Prints the end of a step as one short line: the number of the step and its final state, without the name. */
  #end(number: number, { build, step }: { readonly build: string; readonly step: StepView }): void {
    const key = `${build} ${step.digest}`
    if (!this.#before.has(key)) this.#before.set(key, number)
    this.#ended.delete(number)
    // If the step starts again, its name must be printed again.
    this.#named.delete(number)
    this.#write(`#${number} ${stateText(step)}`)
  }

  #count(build: string, step: StepView, now: number): void {
    const { number, bytes, state } = step
    const last = this.#counted.get(number)
    if (last === undefined) this.#counted.set(number, now)
    if (last === undefined || now - last < BETWEEN_COUNTS || state !== 'running') return
    this.#counted.set(number, now)
    this.#print(build, step, bytesText(bytes!))
  }
}

/**
 * Sorts the changes in one message of the builder: steps in the order in which they began, and the end of each step
 * after its output, because the message lists ends before output.
 */
function inOrder(changes: readonly BuildChange[]): readonly BuildChange[] {
  const rank = (change: BuildChange): number => {
    if (change.type === 'warning') return Number.POSITIVE_INFINITY
    const isEnd = change.type === 'step' && change.step.state !== 'running'
    return change.step.number + (isEnd ? 0.5 : 0)
  }
  return changes
    .map(change => ({ change, at: rank(change) }))
    .sort((a, b) => (a.at === b.at ? 0 : a.at - b.at))
    .map(({ change }) => change)
}

const isBad = ({ state }: StepView): boolean => state === 'failed' || state === 'cancelled'

/**
 * Returns the state of a step as text. For a finished step, includes the bytes that it transferred, such as a context
 * or a layer.
 */
function stateText({ state, seconds, bytes, error = '' }: StepView): string {
  if (state === 'cached') return 'CACHED'
  if (state === 'cancelled') return 'CANCELED'
  if (state === 'failed') return `ERROR: ${error.replaceAll(/\s*\n\s*/g, ' ')}`
  const sent = bytes && bytes.current > 0 ? `, ${bytesText({ ...bytes, total: 0 })}` : ''
  return `DONE ${seconds.toFixed(1)}s${sent}`
}
