import type { BuildEvent } from '../../../operations/build/events.ts'
import type { BuildChange, BuildProgress, BuildView, StepView } from '../../../operations/build/progress.ts'
import { readableDuration } from '../../options/duration.ts'
import type { Output } from '../io.ts'
import { cleanText } from '../log-text.ts'
import type { Progress } from '../progress/events.ts'
import { bytesText, endText, failureLines, retryText, stepText } from './text.ts'

export interface DisplayOptions {
  readonly progress: BuildProgress
  readonly seconds: () => number
  readonly colour: boolean
}

/** BuildKit looks a step up, says that it has ended, and begins it. Within these seconds an end is not printed yet. */
const SETTLED = 0.2
/** Seconds between two counts of a step's bytes. */
const BETWEEN_COUNTS = 5

/** A line for each thing that happens, for logs and pipelines. */
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
      for (const change of progress.take(event, now)) steps.take(change, now)
      steps.settle(now)
      if (event.type !== 'build-status') {
        steps.endAll(event.name)
        const build = progress.builds.find(({ name }) => name === event.name)!
        write(`${event.name === '' ? '' : `${event.name}: `}${lineOf(event, build)}`)
      } else if (steps.isUnsettled) timer ??= setTimeout(settle, SETTLED * 1000).unref()
    },
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

/** Prints the steps of builds, each under its number. */
class PlainSteps {
  readonly #write: (text: string) => void
  /** Steps whose name was printed. */
  readonly #named = new Set<number>()
  /** Ends that are not printed yet, and since when. */
  readonly #ended = new Map<number, { readonly build: string; readonly step: StepView; readonly since: number }>()
  readonly #counted = new Map<number, number>()

  constructor(write: (text: string) => void) {
    this.#write = write
  }

  get isUnsettled(): boolean {
    return this.#ended.size > 0
  }

  take(change: BuildChange, now: number): void {
    const { name } = change.build
    if (change.type === 'warning') this.#write(`${name === '' ? '' : `${name}: `}warning: ${change.text}`)
    else if (change.type === 'log') this.#write(`#${change.step.number} ${change.seconds.toFixed(3)} ${change.line}`)
    else if (change.step.number === 0) return
    else if (change.type === 'bytes') this.#count(change.step, now)
    else this.#state(name, change.step, now)
  }

  /** Prints the ends that nothing has followed. */
  settle(now: number): void {
    for (const [number, { step, since }] of this.#ended) if (now - since >= SETTLED) this.#end(number, step)
  }

  /** Prints the ends of a build's steps. */
  endAll(build: string): void {
    for (const [number, ended] of this.#ended) if (ended.build === build) this.#end(number, ended.step)
  }

  #state(build: string, step: StepView, now: number): void {
    const { number } = step
    if (!this.#named.has(number)) {
      // The steps that this step depends on have ended for good.
      for (const [before, ended] of this.#ended)
        if (ended.build === build && step.inputs.includes(ended.step.digest)) this.#end(before, ended.step)
      this.#write(`#${number} ${stepText(build, step)}`)
      this.#named.add(number)
    }
    if (step.state === 'running') this.#ended.delete(number)
    else if (step.state === 'done' || step.state === 'cached') this.#ended.set(number, { build, step, since: now })
    else this.#end(number, step)
  }

  #end(number: number, step: StepView): void {
    this.#ended.delete(number)
    this.#write(`#${number} ${stateText(step)}`)
  }

  #count({ number, bytes, state }: StepView, now: number): void {
    const last = this.#counted.get(number)
    if (last === undefined) this.#counted.set(number, now)
    if (last === undefined || now - last < BETWEEN_COUNTS || state !== 'running') return
    this.#counted.set(number, now)
    this.#write(`#${number} ${bytesText(bytes!)}`)
  }
}

function stateText({ state, seconds, error = '' }: StepView): string {
  if (state === 'cached') return 'CACHED'
  if (state === 'cancelled') return 'CANCELED'
  return state === 'failed' ? `ERROR: ${error}` : `DONE ${seconds.toFixed(1)}s`
}
