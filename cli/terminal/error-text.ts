import { ReportedError, UserError } from '../../compiler/diagnostics/user-error.ts'
import { shownPlace } from '../../compiler/text/source.ts'
import { printable } from '../../compiler/values/printable.ts'

/**
 * Formats an error: for a UserError, the message and how to fix the problem; for any other error, the stack trace for
 * the developers of devctl.
 */
export function errorText(error: unknown): string {
  if (!(error instanceof UserError)) {
    const trace = error instanceof Error ? (error.stack ?? error.message) : String(error)
    return `${trace}\nThis is a bug of devctl. Please report it with the lines above and the files that show it.\n`
  }
  if (error instanceof ReportedError) return ''
  // File names and arguments may contain any characters.
  const lines = [
    `error: ${printable(error.message)}`,
    ...(error.place ? [`  --> ${printable(shownPlace(error.place))}`] : []),
    ...error.notes.map(note => `  = note: ${printable(note)}`),
    ...(error.hint === undefined ? [] : [`  = help: ${printable(error.hint)}`]),
    ...error.lines.map(printable),
  ]
  return `${lines.join('\n')}\n`
}
