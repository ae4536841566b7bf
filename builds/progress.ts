import type { BuildStatus, Timestamp, Vertex, VertexLog, VertexStatus } from '../adapters/buildkit/status.ts'
import { maskLogins } from '../compiler/values/images/build-context.ts'
import type { BuildEnded, BuildEvent } from './events.ts'
import { LogLines } from './failures/log-lines.ts'

/** A build and the progress of its steps. Names and lines are masked. */
export interface BuildView {
  readonly name: string
  readonly reference: string
  readonly state: 'building' | BuildEnded['outcome']
  readonly steps: readonly StepView[]
  readonly warnings: readonly string[]
  readonly digest?: string
  /** Names that now point to the image, and did not before. */
  readonly moved?: readonly string[]
  /** Start of the build in seconds, on the time scale of the `now` that `BuildProgress.take` receives. */
  readonly began: number
  /** Total duration in seconds; absent while the build runs. */
  readonly seconds?: number
  /** Reason for the last retry, number of the current attempt, and maximum number of attempts. */
  readonly retry?: { readonly reason: string; readonly attempt: number; readonly of: number }
}

export interface StepView {
  /** Digest that identifies the step within its build. */
  readonly digest: string
  /** Digests of the steps that this step depends on. */
  readonly inputs: readonly string[]
  /** Number in the order in which the steps of all builds start; 0 before the step starts. */
  readonly number: number
  /** Text in brackets before the name of the step, such as `build 2/5` or `internal`; empty if there is none. */
  readonly stage: string
  /** Instruction of the step: `RUN npm ci`. */
  readonly name: string
  readonly state: 'waiting' | 'running' | 'cached' | 'done' | 'failed' | 'cancelled'
  /** Time that the step has worked, in seconds, by the builder's clock. */
  readonly seconds: number
  /** Time at which the step started, in seconds, on the time scale of the `now` that `BuildProgress.take` receives. */
  readonly since?: number
  readonly bytes?: { readonly current: number; readonly total: number }
  /** Last lines that the step has printed. */
  readonly lines: readonly string[]
  readonly error?: string
}

/** A change caused by an event, for displays that print changes one after another. */
export type BuildChange =
  | { readonly type: 'step'; readonly build: BuildView; readonly step: StepView }
  | {
      readonly type: 'log'
      readonly build: BuildView
      readonly step: StepView
      readonly stream: 'stdout' | 'stderr'
      /** Time since the step started, in seconds. */
      readonly seconds: number
      readonly line: string
    }
  | { readonly type: 'bytes'; readonly build: BuildView; readonly step: StepView }
  | { readonly type: 'warning'; readonly build: BuildView; readonly text: string }

/** Maximum number of lines kept per step. */
const LAST_LINES = 20

interface Step extends Mutable<StepView> {
  lines: string[]
  readonly parts: Map<string, VertexStatus>
  readonly streams: Map<number, LogLines>
  /**
   * Duration of each completed interval of the step in seconds, by the start of the interval. The key prevents an
   * interval from being counted twice if the builder sends its end several times.
   */
  readonly intervals: Map<number, number>
  /** Time at which the step started, by the builder's clock. */
  began: number | undefined
}

interface Build extends Mutable<BuildView> {
  steps: Step[]
  warnings: string[]
  readonly byDigest: Map<string, Step>
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] }

/**
 * Folds the events of builds into a view for displays. `mask` removes secrets from a text, `maskOutput` from the output
 * of steps.
 */
export class BuildProgress {
  readonly #mask: (text: string) => string
  readonly #maskOutput: (text: string) => string
  readonly #builds = new Map<string, Build>()
  #numbers = 0

  constructor(mask: (text: string) => string, maskOutput = mask) {
    this.#mask = text => maskLogins(mask(text))
    this.#maskOutput = text => maskLogins(maskOutput(text))
  }

  /** Builds in the order in which they started. */
  get builds(): readonly BuildView[] {
    return [...this.#builds.values()]
  }

  /** Applies an event, and returns the resulting changes. `now` is in seconds. */
  take(event: BuildEvent, now: number): readonly BuildChange[] {
    const build = this.#buildOf(event, now)
    switch (event.type) {
      case 'build-begun':
        return []
      case 'build-retry':
        build.retry = { reason: this.#mask(event.reason), attempt: event.attempt, of: event.of }
        // The builder sends the steps again, including those that it has cached.
        build.steps = []
        build.byDigest.clear()
        return []
      case 'build-ended':
        build.state = event.outcome
        build.seconds = event.seconds
        if (event.digest !== undefined) build.digest = event.digest
        if (event.moved) build.moved = event.moved.map(name => this.#mask(name))
        return build.steps.flatMap(step => this.#stopped(build, step))
      case 'build-status':
        return this.#statusOf(build, event.status, now)
    }
  }

  /** Removes the builds that have ended. */
  forgetEnded(): void {
    for (const { name, state } of this.builds) if (state !== 'building') this.#builds.delete(name)
  }

  #buildOf(event: BuildEvent, now: number): Build {
    const known = this.#builds.get(event.name)
    const reference = event.type === 'build-begun' ? this.#mask(event.reference) : (known?.reference ?? '')
    if (known) return Object.assign(known, { reference })
    const { name } = event
    const build: Build = {
      ...{ name, reference, state: 'building', began: now },
      ...{ steps: [], warnings: [], byDigest: new Map<string, Step>() },
    }
    this.#builds.set(name, build)
    return build
  }

  #statusOf(build: Build, status: BuildStatus, now: number): readonly BuildChange[] {
    return [
      ...(status.vertexes ?? []).flatMap(vertex => this.#vertex(build, vertex, now)),
      ...(status.statuses ?? []).flatMap(part => takePart(build, part)),
      ...(status.logs ?? []).flatMap(log => this.#log(build, log)),
      ...(status.warnings ?? []).flatMap(({ short, info, ranges }): readonly BuildChange[] => {
        const line = ranges?.[0]?.start?.line
        const place = [info?.filename, line].filter(part => part !== undefined).join(':')
        const text = this.#mask(`${place === '' ? '' : `${place}: `}${textOf(short).replace(/ \(line \d+\)$/, '')}`)
        if (build.warnings.includes(text)) return []
        build.warnings.push(text)
        return [{ type: 'warning', build, text }]
      }),
    ]
  }

  #vertex(build: Build, vertex: Vertex, now: number): readonly BuildChange[] {
    const known = build.byDigest.get(vertex.digest)
    const step = known ?? this.#newStep(build, vertex)
    const before = step.state
    const began = secondsOf(vertex.started)
    const ended = secondsOf(vertex.completed)
    if (began !== undefined) {
      step.began ??= began
      if (step.number === 0) step.number = ++this.#numbers
      if (ended !== undefined) step.intervals.set(began, Math.max(0, ended - began))
    }
    step.seconds = sum(step.intervals.values())
    step.state = stateOf(vertex, before)
    if (vertex.error !== undefined && vertex.error !== '') step.error = this.#mask(vertex.error)
    if (step.state !== 'running') delete step.since
    else if (before !== 'running') step.since = now
    const left = step.state === 'running' ? [] : this.#unended(build, step)
    return before === step.state ? left : [...left, { type: 'step', build, step: { ...step } }]
  }

  #newStep(build: Build, vertex: Vertex): Step {
    const [, stage = '', name = vertex.name] = /^\[([^\]]*)\] (.*)$/s.exec(vertex.name) ?? []
    const step: Step = {
      ...{ digest: vertex.digest, inputs: vertex.inputs ?? [] },
      ...{ number: 0, stage: this.#mask(stage), name: this.#mask(name).replaceAll(/\s+/g, ' '), state: 'waiting' },
      ...{ seconds: 0, began: undefined, lines: [], parts: new Map(), streams: new Map(), intervals: new Map() },
    }
    build.byDigest.set(vertex.digest, step)
    build.steps.push(step)
    return step
  }

  #log(build: Build, log: VertexLog): readonly BuildChange[] {
    const step = build.byDigest.get(log.vertex)
    if (!step || !log.msg) return []
    const stream = log.stream ?? 1
    const lines = step.streams.get(stream) ?? new LogLines(this.#maskOutput)
    step.streams.set(stream, lines)
    const at = secondsOf(log.timestamp) ?? step.began ?? 0
    return logged(build, step, stream, lines.push(log.msg), at - (step.began ?? at))
  }

  /** Returns the output that an ended step left without a line end. */
  #unended(build: Build, step: Step): readonly BuildChange[] {
    return [...step.streams].flatMap(([stream, lines]) => logged(build, step, stream, lines.end(), step.seconds))
  }

  /** Marks a step as cancelled if it is still running when its build ends. */
  #stopped(build: Build, step: Step): readonly BuildChange[] {
    if (step.state !== 'running') return []
    step.state = 'cancelled'
    delete step.since
    return [...this.#unended(build, step), { type: 'step', build, step: { ...step } }]
  }
}

/** Returns the state of a step from a message of the builder. A cached step that is reported again stays cached. */
function stateOf({ started, completed, cached, error }: Vertex, before: StepView['state']): StepView['state'] {
  if (error) return /context canceled|^canceled$/i.test(error) ? 'cancelled' : 'failed'
  if (cached) return 'cached'
  if (completed) return before === 'cached' ? 'cached' : 'done'
  return started ? 'running' : before
}

function takePart(build: Build, part: VertexStatus): readonly BuildChange[] {
  const step = build.byDigest.get(part.vertex)
  if (!step) return []
  step.parts.set(part.ID, part)
  const counted = [...step.parts.values()].filter(({ current = 0, total = 0 }) => current > 0 || total > 0)
  if (counted.length === 0) return []
  step.bytes = {
    current: sum(counted.map(({ current = 0 }) => current)),
    total: sum(counted.map(({ total = 0 }) => total)),
  }
  return [{ type: 'bytes', build, step }]
}

function logged(
  build: Build,
  step: Step,
  stream: number,
  lines: readonly string[],
  seconds: number,
): readonly BuildChange[] {
  if (lines.length > 0) step.lines = [...step.lines, ...lines].slice(-LAST_LINES)
  const shared = { type: 'log', build, step, stream: stream === 2 ? 'stderr' : 'stdout', seconds } as const
  return lines.map(line => ({ ...shared, line }))
}

const sum = (numbers: Iterable<number>): number => [...numbers].reduce((all, one) => all + one, 0)

const secondsOf = (time: Timestamp | undefined): number | undefined =>
  time && (time.seconds ?? 0) + (time.nanos ?? 0) / 1e9

const textOf = (bytes: Uint8Array | undefined): string => new TextDecoder().decode(bytes)
