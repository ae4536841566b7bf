import type { Span } from '../text/source.ts'

export interface ErrorDetails {
  /** The suggested fix, printed as `= help:`. */
  readonly hint?: string
  /** Facts, printed as `= note:`. */
  readonly notes?: readonly string[]
  readonly cause?: unknown
  /** Position in the files of the value that the error is about. */
  readonly place?: Span
  /** Lines to write into a file, printed below the hint as they are. */
  readonly lines?: readonly string[]
}

/**
 * Something outside the files that the user can act on: a folder that cannot be written, a cluster
 * that does not answer. Exit status 1.
 */
export class UserError extends Error {
  readonly hint: string | undefined
  readonly notes: readonly string[]
  readonly place: Span | undefined
  readonly lines: readonly string[]

  /**
   * `message` is written like that of a diagnostic: lower case, no full stop, names in backticks.
   */
  constructor(message: string, details: ErrorDetails = {}) {
    super(message, { cause: details.cause })
    this.hint = details.hint
    this.notes = details.notes ?? []
    this.place = details.place
    this.lines = details.lines ?? []
  }
}

/**
 * The request contradicts itself, or names something that does not exist: nothing was begun. On the
 * command line its exit status is 2.
 */
export class UsageError extends UserError {}

/**
 * The person has left a question without an answer, by Ctrl-C: nothing is printed. On the command line its exit status
 * is 130.
 */
export class LeftError extends UserError {}

/** The files have errors that were reported as diagnostics: nothing is left to be printed. */
export class ReportedError extends UserError {
  constructor() {
    super('the files have errors', { hint: 'correct them first; `devctl validate` checks them' })
  }
}
