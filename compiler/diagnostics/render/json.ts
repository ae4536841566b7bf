import type { Position, Span } from '../../text/source.ts'
import type { Diagnostic, Severity } from '../diagnostic.ts'

/**
 * A diagnostic as `--output json` prints it. Lines and columns start at 1; columns are in Unicode code points. `end` is
 * exclusive.
 */
export interface DiagnosticJson {
  readonly code: string
  readonly severity: Severity
  readonly message: string
  /** Absent if the diagnostic does not refer to a file. */
  readonly file?: string
  readonly range?: Range
  readonly related: readonly { readonly file: string; readonly range: Range; readonly message: string }[]
  readonly notes: readonly string[]
  readonly hint?: string
}

export interface Range {
  readonly start: Position
  readonly end: Position
}

/** Converts diagnostics to plain data for editors and scripts. */
export function diagnosticsToJson(diagnostics: readonly Diagnostic[]): readonly DiagnosticJson[] {
  return diagnostics.map(({ code, severity, message, span, related, notes, hint }) => ({
    code,
    severity,
    message,
    ...(span && place(span)),
    related: (related ?? []).map(other => ({ ...place(other.span), message: other.message })),
    notes: notes ?? [],
    ...(hint !== undefined && { hint }),
  }))
}

/** Converts a span to a range of lines and columns. */
export function toRange(span: Span): Range {
  return { start: span.file.position(span.start), end: span.file.position(Math.max(span.start, span.end)) }
}

function place(span: Span) {
  return { file: span.file.path, range: toRange(span) }
}
