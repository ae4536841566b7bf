import type { Span } from '../text/source.ts'

export type Severity = 'error' | 'warning' | 'info'

/**
 * A mistake in the user's input, or a remark about it. `message` is lower case, has no full stop, and puts names in
 * backticks.
 */
export interface Diagnostic {
  readonly code: string
  readonly severity: Severity
  readonly message: string
  /** The smallest text that shows it; absent only when there is no text (no file found). */
  readonly span?: Span
  readonly related?: readonly Related[]
  /** Facts that help to understand, printed as `= note:`. */
  readonly notes?: readonly string[]
  /** Stretches of the source that hold secrets: excerpts show `***` in their place. */
  readonly hidden?: readonly Span[]
  /** The suggested fix, printed as `= help:`. */
  readonly hint?: string
  /** Set when the value is, or looks like, a secret that would be committed. */
  readonly secret?: SecretFinding
}

/** Ways to resolve a finding about a value that is, or looks like, a secret. */
export interface SecretFinding {
  /** The path by which `secrets.public` of an environment names it. */
  readonly path: string
  /**
   * The Secret and the key that are proposed for it in `secrets.values`; absent where it can come
   * from none.
   */
  readonly source?: { readonly secret: string; readonly key: string }
}

/** A further position that belongs to a diagnostic, with a message about it. */
export interface Related {
  readonly span: Span
  readonly message: string
}

export interface Wording {
  readonly message: string
  readonly hint?: string | undefined
  readonly notes?: readonly string[] | undefined
  readonly secret?: SecretFinding | undefined
}

/**
 * A kind of diagnostic. Declared once, beside the code that reports it; `explain` is its page in
 * docs/diagnostics.md and `devctl explain CODE`.
 */
export interface DiagnosticKind<P> {
  readonly code: string
  readonly severity: Severity
  readonly explain: string
  readonly text: (parameters: P) => Wording
  /**
   * True for warnings about keys that are lost or approximated: `--strict` turns them into
   * errors.
   */
  readonly loss?: boolean
  /** True for what is an error with `--strict`, whatever it is without. */
  readonly strict?: boolean
}

/** Every kind that the loaded modules declare, by code. */
export const catalogue = new Map<string, DiagnosticKind<never>>()

/**
 * Declares a kind of diagnostic and enters it in the catalogue. Throws when the code is taken: that
 * is our bug.
 */
export function diagnostic<P>(kind: DiagnosticKind<P>): DiagnosticKind<P> {
  if (catalogue.has(kind.code)) throw new Error(`diagnostic ${kind.code} is declared twice`)
  catalogue.set(kind.code, kind)
  return kind
}
