import type { Span } from '../text/source.ts'

export type Severity = 'error' | 'warning' | 'info'

/**
 * An error, warning or remark about the user's input. `message` is lower case, has no full stop, and puts names in
 * backticks.
 */
export interface Diagnostic {
  readonly code: string
  readonly severity: Severity
  readonly message: string
  /**
   * The smallest part of the source that shows the problem. Absent only if there is no source, for example because no
   * file was found.
   */
  readonly span?: Span
  readonly related?: readonly Related[]
  /** Additional facts about the problem, printed as `= note:`. */
  readonly notes?: readonly string[]
  /** Parts of the source that contain secrets. Excerpts show `***` in their place. */
  readonly hidden?: readonly Span[]
  /** The suggested fix, printed as `= help:`. */
  readonly hint?: string
  /** Set if the diagnostic is about a value that is, or looks like, a secret that would be committed. */
  readonly secret?: SecretFinding
}

/** Ways to resolve a finding about a value that is, or looks like, a secret. */
export interface SecretFinding {
  /** Path of the value, as `secrets.public` of an environment would name it. */
  readonly path: string
  /** The suggested Secret and key for the value in `secrets.values`. Absent if the value cannot come from a Secret. */
  readonly source?: { readonly secret: string; readonly key: string }
}

/** An additional position that belongs to a diagnostic, with a message about it. */
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
 * A kind of diagnostic. Each kind is declared once, beside the code that reports it. `explain` is the explanation of
 * the kind in docs/diagnostics and in the output of `devctl explain CODE`.
 */
export interface DiagnosticKind<P> {
  readonly code: string
  readonly severity: Severity
  readonly explain: string
  readonly text: (parameters: P) => Wording
  /** True for warnings about keys that are lost or approximated. `--strict` turns them into errors. */
  readonly loss?: boolean
  /** True for diagnostics of any severity that become errors with `--strict`. */
  readonly strict?: boolean
}

/** Every kind of diagnostic that the loaded modules declare, by code. */
export const catalogue = new Map<string, DiagnosticKind<never>>()

/**
 * Declares a kind of diagnostic and adds it to the catalogue. Throws if the code is already in use, which is a bug in
 * devctl.
 */
export function diagnostic<P>(kind: DiagnosticKind<P>): DiagnosticKind<P> {
  if (catalogue.has(kind.code)) throw new Error(`diagnostic ${kind.code} is declared twice`)
  catalogue.set(kind.code, kind)
  return kind
}
