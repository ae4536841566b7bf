import type { Position, Span } from '../../text/source.ts'
import type { Diagnostic, Severity } from '../diagnostic.ts'

/**
 * A diagnostic as `--output json` prints it. Lines and columns count from 1, columns in Unicode
 * code points; `end` is the first place outside.
 */
export interface DiagnosticJson {
  readonly code: string
  readonly severity: Severity
  readonly message: string
  /** Absent when there is no text that the diagnostic is about. */
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

/** The diagnostics as plain data, for editors and scripts. */
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

/** The range of a span, as lines and columns. */
export function toRange(span: Span): Range {
  return { start: span.file.position(span.start), end: span.file.position(Math.max(span.start, span.end)) }
}

function place(span: Span) {
  return { file: span.file.path, range: toRange(span) }
}
