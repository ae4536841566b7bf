import { printableLines } from '../values/printable.ts'

/**
 * A diagnostic parsed from a line that `--output json` printed. Unreadable fields are absent, because the output of a
 * run may contain arbitrary lines. The severity is `error` if the line does not name one.
 */
export interface ToldProblem {
  readonly severity: string
  readonly code?: string
  readonly message: string
  /** Position of the problem, such as `compose.yaml:18:3`. */
  readonly place?: string
  readonly notes: readonly string[]
  readonly help?: string
}

type Fields = Readonly<Record<string, unknown>>

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
const fieldsOf = (value: unknown): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {})

/** Parses the JSON object of an output line (`DiagnosticJson`). */
export function toldProblem({ severity, code, message, file, range, notes, hint }: Fields): ToldProblem {
  const { line, column } = fieldsOf(fieldsOf(range)['start'])
  const at = [line, column].filter(one => typeof one === 'number')
  return {
    severity: textOf(severity) || 'error',
    ...(textOf(code) !== '' && { code: textOf(code) }),
    message: textOf(message),
    ...(textOf(file) !== '' && { place: [textOf(file), ...at].join(':') }),
    notes: Array.isArray(notes) ? notes.map(textOf).filter(Boolean) : [],
    ...(textOf(hint) !== '' && { help: textOf(hint) }),
  }
}

/**
 * Returns the lines of a problem as a terminal shows them: the message, its position, notes and help. Makes control
 * characters harmless, because the output of a run may contain any characters.
 */
export const problemLines = ({ severity, code, message, place, notes, help }: ToldProblem): readonly string[] =>
  [
    `${code === undefined ? severity : `${severity}[${code}]`}: ${message}`,
    ...(place === undefined ? [] : [`  --> ${place}`]),
    ...notes.map(one => `  = note: ${one}`),
    ...(help === undefined ? [] : [`  = help: ${help}`]),
  ].map(printableLines)
