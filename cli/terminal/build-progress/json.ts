import type { BuildEvent } from '../../../builds/events.ts'
import type { BuildChange } from '../../../builds/progress.ts'
import { jsonText } from '../../../compiler/values/printable.ts'
import type { Output } from '../io.ts'
import type { Progress } from '../progress/events.ts'
import type { DisplayOptions } from './plain.ts'

/** Minimum interval between two byte counts of a step, in seconds. */
const BETWEEN_COUNTS = 1

/** Prints one JSON object per line. The names of the fields are stable. */
export function jsonBuilds(
  output: Output,
  { progress, seconds }: Omit<DisplayOptions, 'colour'>,
): Progress<BuildEvent> {
  const counted = new Map<string, number>()
  const write = (value: object) => output.write(`${jsonText(value)}\n`)
  const isDue = ({ build, step }: Extract<BuildChange, { type: 'bytes' }>, now: number) => {
    const key = `${build.name} ${step.digest}`
    if (now - (counted.get(key) ?? Number.NEGATIVE_INFINITY) < BETWEEN_COUNTS) return false
    counted.set(key, now)
    return true
  }
  return {
    tell(event) {
      const time = seconds()
      const changes = progress.take(event, time).filter(change => change.type !== 'bytes' || isDue(change, time))
      for (const change of changes) write({ time, ...changeOf(change) })
      if (event.type === 'build-ended') write({ time, ...event, seconds: rounded(event.seconds) })
      else if (event.type !== 'build-status') write({ time, ...event })
    },
    pause: () => progress.forgetEnded(),
    makeRoom: () => {},
    above: print => print(),
  }
}

function changeOf(change: BuildChange): object {
  const { name } = change.build
  if (change.type === 'warning') return { type: 'build-warning', name, text: change.text }
  const { step } = change
  if (change.type === 'log') {
    const { stream, seconds, line } = change
    return { type: 'build-log', name, step: step.number, stream, seconds: rounded(seconds), text: line }
  }
  return {
    type: 'build-step',
    name,
    step: step.number,
    stage: step.stage,
    text: step.name,
    state: step.state,
    seconds: rounded(step.seconds),
    ...(step.bytes && { bytes: step.bytes }),
    ...(step.error !== undefined && { error: step.error }),
  }
}

const rounded = (seconds: number): number => Math.round(seconds * 1000) / 1000
