import type { SecretPlaces } from '../compiler/text/secret-places.ts'
import type { Span } from '../compiler/text/source.ts'

/** Line of a file. Line and column start at 1. */
export interface SourceLine {
  readonly file: string
  readonly line: number
  readonly column: number
  /** Text of the line without its indentation; absent for a file outside the project. Secrets are masked. */
  readonly text?: string
}

/** Returns the line of a position. */
export function sourceLine({ file, start, end }: Span, secrets: SecretPlaces): SourceLine {
  const { line, column } = file.position(start)
  const text = secrets.without(file.line(line).trim(), { file, start, end })
  return { file: file.path, line, column, ...(!file.isOutside && { text }) }
}
