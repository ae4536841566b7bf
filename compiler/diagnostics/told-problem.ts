/**
 * A diagnostic that `--output json` has printed, as far as it can be read: the output of a run may have any line. Its
 * severity is `error` where it says none.
 */
export interface ToldProblem {
  readonly severity: string
  readonly code?: string
  readonly message: string
  /** `compose.yaml:18:3` */
  readonly place?: string
  readonly notes: readonly string[]
  readonly help?: string
}

type Fields = Readonly<Record<string, unknown>>

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
const fieldsOf = (value: unknown): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {})

/** Reads the object of a line of output (`DiagnosticJson`). */
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

/** Returns the lines of a problem, as a terminal shows it: the message, its position, notes and help. */
export const problemLines = ({ severity, code, message, place, notes, help }: ToldProblem): readonly string[] => [
  `${code === undefined ? severity : `${severity}[${code}]`}: ${message}`,
  ...(place === undefined ? [] : [`  --> ${place}`]),
  ...notes.map(one => `  = note: ${one}`),
  ...(help === undefined ? [] : [`  = help: ${help}`]),
]
