import type { BuildView, StepView } from '../../../builds/progress.ts'
import { readableDuration } from '../../../compiler/values/numbers/readable-duration.ts'
import { cut } from '../progress/frame.ts'
import { readableBytes } from '../readable-bytes.ts'

/** Returns the line of a step: `[web build 2/5] RUN npm ci`. */
export function stepText(build: string, { stage, name }: StepView): string {
  const inner = [build, stage].filter(part => part !== '').join(' ')
  return inner === '' ? name : `[${inner}] ${name}`
}

/** Returns the outcome of a build as text. */
export function endText({ state, reference, digest, moved = [], seconds = 0, steps }: BuildView): string {
  const failed = steps.find(step => step.state === 'failed')
  switch (state) {
    case 'building':
      return 'is being built'
    case 'built':
      return ['built', reference, digest && `${digest.slice(0, 19)}…`].filter(Boolean).join(' ')
    case 'present':
      return moved.length > 0
        ? `is in the registry already, and now also ${moved.join(', ')}`
        : 'is in the registry already'
    case 'skipped':
      return 'not built, because a build that it needs failed'
    case 'cancelled':
      return 'cancelled'
    case 'failed':
      return `failed${failed ? `: ${stepText('', failed)}` : ` after ${readableDuration(seconds * 1000)}`}`
  }
}

/** Returns the text about a retry: `attempt 2 of 3: the connection was lost`. */
export const retryText = ({ attempt, of, reason }: NonNullable<BuildView['retry']>): string =>
  `attempt ${attempt} of ${of}: ${reason}`

/** Maximum width of a step's name above its output, in columns. */
const HEADING = 64

/**
 * Matches lines that BuildKit prints when it retries a request to a registry. These lines are omitted because the error
 * reports the final result.
 */
const RETRIED = /^error: .*\bretrying in \d/

/** Returns the last output of the failed step, below its name; empty if no step failed. */
export function failureLines({ name, steps }: BuildView): readonly string[] {
  const failed = steps.find(step => step.state === 'failed')
  const lines = (failed?.lines ?? []).filter(line => !RETRIED.test(line))
  if (!failed || lines.length === 0) return []
  const count = lines.length === 1 ? 'last line' : `last ${lines.length} lines`
  return [`${count} of ${cut(stepText(name, failed), HEADING)}:`, ...lines.map(line => `  ${line}`)]
}

/** Returns the number of bytes transferred: `12.3 MB / 45.6 MB`, or only the first number if the total is unknown. */
export function bytesText({ current, total }: NonNullable<StepView['bytes']>): string {
  return total > 0 ? `${readableBytes(current)} / ${readableBytes(total)}` : readableBytes(current)
}
