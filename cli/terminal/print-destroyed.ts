import { plural } from '../../compiler/diagnostics/render/summary.ts'
import type { DestroyOutcome } from '../../operations/destroy/outcome.ts'
import type { OperationEvent } from '../../operations/events.ts'
import type { Context } from '../command.ts'
import { readableDuration } from '../options/duration.ts'
import { printSummary } from './report.ts'

/** Prints what a destroy has come to. */
export function printDestroyed({ io, logLevel }: Context, outcome: DestroyOutcome): void {
  const { namespace, wasEmpty, deleted, kept, held, volumes, waits, left, milliseconds } = outcome
  const subject = subjectOf(outcome)
  if (kept.length > 0) {
    const hint = volumes ? '' : ' (`--volumes` deletes claims)'
    io.stderr.write(`kept ${kept.join(', ')}${hint}\n`)
  }
  for (const { object, why } of held) io.stderr.write(`kept ${object}: ${why}\n`)
  const objects = `${plural(deleted.length, 'object')}${waits ? '' : ', not waited for'}`
  printSummary(
    wasEmpty
      ? `there is nothing of ${subject} in ${namespace}`
      : `${subject} ${areFor(outcome)} destroyed in ${namespace}: ${objects} (${readableDuration(milliseconds)})`,
    io,
    logLevel,
  )
  if (left.length > 0)
    printSummary(`left ${left.join(', ')} as they are (\`--dependencies\` destroys them, too)`, io, logLevel)
}

type Subject = Pick<DestroyOutcome, 'environment' | 'named'>

/** `shop`, or `web, api of shop`. */
const subjectOf = ({ environment, named }: Subject): string =>
  named ? `${named.join(', ')} of ${environment}` : environment

const areFor = ({ named = [] }: Subject): string => (named.length > 1 ? 'are' : 'is')

/** What state things are in when a destroy is stopped. */
export function destroyStoppedText({
  namespace,
  deleted,
  planned,
  ...subject
}: Extract<OperationEvent, { readonly type: 'destroy-stopped' }>): string {
  const what =
    deleted < planned
      ? `${deleted} of ${plural(planned, 'object')} deleted`
      : `${plural(planned, 'object')} deleted, but perhaps not gone yet`
  return `${subjectOf(subject)} is partly destroyed in ${namespace}: ${what}. Destroy again to go on\n`
}
