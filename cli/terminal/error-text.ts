import { ReportedError, UserError } from '../../compiler/diagnostics/user-error.ts'
import { shownPlace } from '../../compiler/text/source.ts'
import { printable } from '../../compiler/values/printable.ts'

/** An error for people: what they can mend, else the trace for who mends devctl. */
export function errorText(error: unknown): string {
  if (!(error instanceof UserError)) {
    const trace = error instanceof Error ? (error.stack ?? error.message) : String(error)
    return `${trace}\nThis is a bug of devctl. Please report it with the lines above and the files that show it.\n`
  }
  if (error instanceof ReportedError) return ''
  // Names of files and words of the command line may hold anything.
  const lines = [
    `error: ${printable(error.message)}`,
    ...(error.place ? [`  --> ${printable(shownPlace(error.place))}`] : []),
    ...error.notes.map(note => `  = note: ${printable(note)}`),
    ...(error.hint === undefined ? [] : [`  = help: ${printable(error.hint)}`]),
    ...error.lines.map(printable),
  ]
  return `${lines.join('\n')}\n`
}
