import type { BuildView, StepView } from '../../../builds/progress.ts'
import { readableDuration } from '../../../compiler/values/numbers/readable-duration.ts'
import { cleanText } from '../log-text.ts'
import { cut, type FrameOptions, type Line, markOf, nameWidth, paint, rowOf } from '../progress/frame.ts'
import { bytesText, endText, retryText, stepText } from './text.ts'

export interface BuildFrameOptions extends FrameOptions {
  /** Current time in seconds, on the clock of the builds. */
  readonly now: number
  /** True to show only the builds, without their steps. */
  readonly isShort?: boolean
}

/** A row, and its rank: if the terminal has too few rows, rows with the highest rank are omitted first. */
interface Row {
  readonly kind: 'build' | 'step' | 'ended-step' | 'log'
  readonly build: BuildView
  readonly rank: number
  /** Returns the text of the row. `isAlone` is true if no other row shows the current step of the build. */
  readonly text: (isAlone: boolean) => string
}

const STEP_INDENT = '   '
const LOG_INDENT = '       '
/** Maximum number of log lines shown for a running step. */
const LOG_LINES = 4

const RANKS = { failedBuild: 0, build: 1, step: 2, log: 3, endedBuild: 8, endedStep: 10 }

/**
 * Returns the rows of a frame: never wider than the terminal, and one row fewer than its height, because the cursor
 * needs the last row.
 */
export function buildFrame(builds: readonly BuildView[], options: BuildFrameOptions): readonly string[] {
  const room = Math.max(0, options.rows - 1)
  const width = nameWidth(builds, options.columns)
  // Sorted by name, so that the order is the same in each run.
  const ordered = [...builds].sort((a, b) => (a.name < b.name ? -1 : 1))
  const rows = ordered.flatMap(build => [buildRow(build, width, options), ...stepRows(build, options)])
  const shown = fitting(rows, room)
  const hidden = hiddenBuilds(rows, shown)
  if (hidden === 0 || room === 0) return textsOf(shown)
  const most = fitting(rows, room - 1)
  const more = `   … and ${hiddenBuilds(rows, most)} more`
  return [...textsOf(most), paint(2, cut(more, options.columns), options.colour)]
}

function textsOf(rows: readonly Row[]): readonly string[] {
  const withSteps = new Set(rows.filter(({ kind }) => kind === 'step').map(({ build }) => build))
  return rows.map(({ text, build }) => text(!withSteps.has(build)))
}

/** Returns the rows that fit into `room` terminal rows, in their original order. */
function fitting(rows: readonly Row[], room: number): readonly Row[] {
  if (rows.length <= room) return rows
  const kept = new Set([...rows].sort((a, b) => a.rank - b.rank).slice(0, room))
  return rows.filter(row => kept.has(row))
}

const hiddenBuilds = (rows: readonly Row[], shown: readonly Row[]): number => {
  const count = (some: readonly Row[]) => some.filter(({ kind }) => kind === 'build').length
  return count(rows) - count(shown)
}

function buildRow(build: BuildView, width: number, options: BuildFrameOptions): Row {
  const { state, began, seconds, name } = build
  const mark = MARKS[state]
  const ended = seconds === undefined ? options.now : began + seconds
  const line: Omit<Line, 'text'> = { mark, name, began, ended }
  const rank = mark === 'failed' ? RANKS.failedBuild : state === 'building' ? RANKS.build : RANKS.endedBuild
  const text = (isAlone: boolean) =>
    rowOf({ ...line, text: state === 'building' ? workText(build, isAlone) : endText(build) }, width, options)
  return { kind: 'build', build, rank, text }
}

const MARKS = {
  building: 'working',
  built: 'done',
  present: 'done',
  failed: 'failed',
  cancelled: 'failed',
  skipped: 'waiting',
} as const

/**
 * Returns the progress of a build, such as `4/9 steps`, or the reference of the image before the first step. Adds the
 * current step if no other row shows it, and the last retry, if any.
 */
function workText({ steps, retry, reference }: BuildView, isAlone: boolean): string {
  const own = steps.filter(({ stage }) => !stage.startsWith('internal') && !stage.startsWith('auth'))
  const ended = own.filter(({ state }) => state !== 'waiting' && state !== 'running').length
  const work = own.length === 0 ? reference : `${ended}/${own.length} steps`
  const running = isAlone ? steps.findLast(({ state }) => state === 'running') : undefined
  return [work, running && stepText('', running), retry && retryText(retry)].filter(Boolean).join(', ')
}

/**
 * Returns the rows for the steps of an unfinished build, in the order in which they began; running steps include their
 * latest output.
 */
function stepRows(build: BuildView, options: BuildFrameOptions): readonly Row[] {
  const { state, steps } = build
  if (options.isShort || state !== 'building') return []
  const begun = steps.filter(({ number }) => number > 0).sort((a, b) => a.number - b.number)
  return begun.flatMap((step, index): readonly Row[] => {
    const text = () => stepRow(step, options)
    if (step.state !== 'running') {
      const rank = step.state === 'failed' ? RANKS.step : RANKS.endedStep + begun.length - index
      return [{ kind: 'ended-step', build, text, rank }]
    }
    const lines = step.lines.slice(-LOG_LINES)
    return [
      { kind: 'step', build, text, rank: RANKS.step },
      // The last log line is omitted last.
      ...lines.map(
        (line, at): Row => ({
          ...{ kind: 'log', build, rank: RANKS.log + lines.length - at },
          text: () => logRow(line, options),
        }),
      ),
    ]
  })
}

function stepRow(step: StepView, { columns, colour, turn, now }: BuildFrameOptions): string {
  const isRunning = step.state === 'running'
  const took = readableDuration((step.seconds + (step.since === undefined ? 0 : now - step.since)) * 1000)
  const count = isRunning && step.bytes ? `  ${bytesText(step.bytes)}` : ''
  const end = step.state === 'cached' ? '  CACHED' : step.state === 'cancelled' ? '  CANCELED' : `${count}  ${took}`
  const mark = markOf(STEP_MARKS[step.state], colour, turn)
  const left = columns - STEP_INDENT.length - 2
  if (left < 4) return cut(step.name, columns)
  const shownEnd = left - end.length >= 12 ? end : ''
  const text = cut(cleanText(stepText('', step), false), left - shownEnd.length)
  const words = isRunning || step.state === 'failed' ? text : paint(2, text, colour)
  return `${STEP_INDENT}${mark} ${words}${paint(2, shownEnd, colour)}`
}

const STEP_MARKS = {
  waiting: 'waiting',
  running: 'working',
  cached: 'done',
  done: 'done',
  failed: 'failed',
  cancelled: 'waiting',
} as const

const logRow = (line: string, { columns, colour }: BuildFrameOptions): string =>
  paint(2, cut(`${LOG_INDENT}${cleanText(line, false).replaceAll('\t', '    ')}`, columns), colour)
