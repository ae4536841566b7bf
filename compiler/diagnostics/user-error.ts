import type { Span } from '../text/source.ts'

export interface ErrorDetails {
  /** The suggested fix, printed as `= help:`. */
  readonly hint?: string
  /** Additional facts, printed as `= note:`. */
  readonly notes?: readonly string[]
  readonly cause?: unknown
  /** Position, in the files, of the value that caused the error. */
  readonly place?: Span
  /** Lines for the user to write into a file, printed unchanged below the hint. */
  readonly lines?: readonly string[]
}

/**
 * An error outside the files that the user can act on, such as a folder that cannot be written or a cluster that does
 * not respond. The exit status is 1.
 */
export class UserError extends Error {
  readonly hint: string | undefined
  readonly notes: readonly string[]
  readonly place: Span | undefined
  readonly lines: readonly string[]

  /** Creates the error. `message` follows the style of diagnostics: lower case, no full stop, names in backticks. */
  constructor(message: string, details: ErrorDetails = {}) {
    super(message, { cause: details.cause })
    this.hint = details.hint
    this.notes = details.notes ?? []
    this.place = details.place
    this.lines = details.lines ?? []
  }
}

/**
 * Thrown if a request contradicts itself or names something that does not exist. No work has started. On the command
 * line, the exit status is 2.
 */
export class UsageError extends UserError {}

/**
 * Thrown if the program of a command in a container cannot be started. On the command line, the exit status is the same
 * as in a shell: 126 if the program is not executable, 127 if it does not exist.
 */
export class ProgramError extends UserError {
  readonly exitStatus: 126 | 127

  constructor(exitStatus: 126 | 127, message: string, details: Omit<ErrorDetails, 'hint'> = {}) {
    const hint =
      exitStatus === 127
        ? 'use a program of its image; many small images have no shell'
        : 'make it executable in the image with `chmod +x`, or run it with its interpreter'
    super(message, { ...details, hint })
    this.exitStatus = exitStatus
  }
}

/**
 * Thrown if the user cancels a question with Ctrl-C. Nothing is printed. On the command line, the exit status is 130.
 */
export class LeftError extends UserError {}

/** Thrown if the files have errors that were already reported as diagnostics, so nothing more needs to be printed. */
export class ReportedError extends UserError {
  constructor() {
    super('the files have errors', { hint: 'correct them first; `devctl validate` checks them' })
  }
}
