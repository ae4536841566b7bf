import type { OperationEvent } from '../../api/events.ts'
import { plural } from '../../compiler/diagnostics/render/summary.ts'
import { readableDuration } from '../../compiler/values/numbers/readable-duration.ts'
import type { DestroyOutcome } from '../../operations/destroy/outcome.ts'
import type { Context } from '../command.ts'
import { printSummary } from './report.ts'

/** Prints the outcome of a destroy. */
export function printDestroyed({ io, logLevel }: Context, outcome: DestroyOutcome): void {
  const { namespace, wasEmpty, isNamespaceGone, deleted, kept, held, volumes, waits, left, milliseconds } = outcome
  const subject = subjectOf(outcome)
  if (kept.length > 0) {
    const hint = volumes ? '' : ' (`--volumes` deletes claims)'
    printSummary(`kept ${kept.join(', ')}${hint}`, io, logLevel)
  }
  for (const { object, why } of held) printSummary(`kept ${object}: ${why}`, io, logLevel)
  const objects = `${plural(deleted.length, 'object')}${waits ? '' : ', not waited for'}`
  const nothing = isNamespaceGone
    ? `namespace ${namespace} does not exist${outcome.isPerhapsForeign ? ', or you are not a member of it' : ''}: nothing to destroy for ${subject}`
    : `nothing to destroy for ${subject} in ${namespace}`
  printSummary(
    wasEmpty
      ? nothing
      : `${subject} ${areFor(outcome)} destroyed in ${namespace}: ${objects} (${readableDuration(milliseconds)})`,
    io,
    logLevel,
  )
  if (outcome.similarNamespace !== undefined)
    printSummary(`if ${namespace} is a spelling mistake: ${outcome.similarNamespace}`, io, logLevel)
  if (left.length > 0)
    printSummary(`dependencies not destroyed: ${left.join(', ')} (use \`--dependencies\`)`, io, logLevel)
}

type Subject = Pick<DestroyOutcome, 'environment' | 'named'>

/** Returns the subject of a sentence: `shop`, or `web, api of shop`. */
const subjectOf = ({ environment, named }: Subject): string =>
  named ? `${named.join(', ')} of ${environment}` : environment

const areFor = ({ named = [] }: Subject): string => (named.length > 1 ? 'are' : 'is')

/** Returns the text about the state of an environment when its destroy stops early. */
export function destroyStoppedText({
  namespace,
  deleted,
  planned,
  ...subject
}: Extract<OperationEvent, { readonly type: 'destroy-stopped' }>): string {
  const what =
    deleted < planned
      ? `${deleted} of ${plural(planned, 'object')} deleted`
      : `${plural(planned, 'object')} deleted, but some may still exist`
  return `${subjectOf(subject)} is partly destroyed in ${namespace}: ${what}. Destroy again to continue\n`
}
