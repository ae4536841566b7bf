import type { Span } from '../text/source.ts'

export interface ErrorDetails {
  /** The suggested fix, printed as `= help:`. */
  readonly hint?: string
  /** Facts, printed as `= note:`. */
  readonly notes?: readonly string[]
  readonly cause?: unknown
  /** Where in the files the value is written that it is about. */
  readonly place?: Span
}

/**
 * Something outside the files that the user can act on: a folder that cannot be written, a cluster
 * that does not answer. Exit status 1.
 */
export class UserError extends Error {
  readonly hint: string | undefined
  readonly notes: readonly string[]
  readonly place: Span | undefined

  /**
   * `message` is written like that of a diagnostic: lower case, no full stop, names in backticks.
   */
  constructor(message: string, details: ErrorDetails = {}) {
    super(message, { cause: details.cause })
    this.hint = details.hint
    this.notes = details.notes ?? []
    this.place = details.place
  }
}

/**
 * The request contradicts itself, or names something that does not exist: nothing was begun. On the
 * command line its exit status is 2.
 */
export class UsageError extends UserError {}
