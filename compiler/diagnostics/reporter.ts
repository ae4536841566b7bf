import type { SourceFile, Span } from '../text/source.ts'
import { Budget } from './budget.ts'
import type { Diagnostic, DiagnosticKind, Related, Wording } from './diagnostic.ts'

/**
 * Returns the message and the hint that replace the wording of a diagnostic about a file outside the project. The
 * original wording may quote the content of the file.
 */
const withoutText = (code: string): Wording => ({
  message: 'error in a file outside the project; its content is not shown',
  hint: `\`devctl explain ${code}\` tells what it is about`,
})

/**
 * Collects the diagnostics of a run. The stages of the compiler report errors here and continue, instead of throwing.
 */
export class Reporter {
  readonly strict: boolean
  /** The remaining budget of the run. */
  readonly budget: Budget
  readonly #found: Diagnostic[] = []
  readonly #seen = new Set<string>()
  readonly #fileOrder = new Map<string, number>()
  readonly #hidden = new Map<SourceFile, Span[]>()
  /** Folders outside the project that were reported. `span` is the position in a file that names the folder. */
  readonly #outside: { readonly folder: string; readonly span: Span | undefined }[] = []
  #errors = 0

  /** Creates a reporter. With `strict`, warnings about lost or approximated keys are errors. */
  constructor(options: { strict?: boolean; budget?: Budget } = {}) {
    this.strict = options.strict ?? false
    this.budget = options.budget ?? new Budget()
  }

  /** Reports a diagnostic. Ignores a repeated diagnostic with the same code, message and span. */
  report<P>(kind: DiagnosticKind<P>, span: Span | undefined, parameters: P, related?: readonly Related[]): void {
    const { message, hint, notes, secret }: Wording = span?.file.isOutside
      ? withoutText(kind.code)
      : kind.text(parameters)
    const key = `${kind.code} ${span?.file.path} ${span?.start} ${span?.end} ${message}`
    if (this.#seen.has(key)) return
    this.#seen.add(key)
    const raised = this.strict && (kind.strict || (kind.loss && kind.severity === 'warning'))
    const severity = raised ? 'error' : kind.severity
    if (severity === 'error') this.#errors++
    if (span && !this.#fileOrder.has(span.file.path)) this.#fileOrder.set(span.file.path, this.#fileOrder.size)
    this.#found.push({
      code: kind.code,
      severity,
      message,
      ...(span && { span }),
      ...(related?.length && { related }),
      ...(notes?.length && { notes }),
      ...(hint !== undefined && { hint }),
      ...(secret && { secret }),
    })
  }

  /**
   * Hides a part of the source, because it contains a secret, in the excerpts of all diagnostics, including the
   * diagnostics already reported.
   */
  hide(span: Span): void {
    const known = this.#hidden.get(span.file)
    if (known) known.push(span)
    else this.#hidden.set(span.file, [span])
  }

  /** Records that a folder outside the project was reported at `span`. */
  addOutsideFolder(folder: string, span: Span | undefined): void {
    this.#outside.push({ folder, span })
  }

  /** Returns true if a folder that contains the path was reported at `span`. */
  knowsOutsideFolder(path: string, span: Span | undefined): boolean {
    return this.#outside.some(
      one => one.span?.file === span?.file && one.span?.start === span?.start && path.startsWith(`${one.folder}/`),
    )
  }

  /**
   * Returns a copy of the reporter with the diagnostics reported so far and the remaining budget, but with a new time
   * limit.
   */
  copy(): Reporter {
    const copy = new Reporter({ strict: this.strict, budget: this.budget.copy() })
    // There may be more diagnostics than a call can have arguments.
    for (const one of this.#found) copy.#found.push(one)
    for (const key of this.#seen) copy.#seen.add(key)
    for (const [path, order] of this.#fileOrder) copy.#fileOrder.set(path, order)
    for (const [file, spans] of this.#hidden) copy.#hidden.set(file, [...spans])
    for (const one of this.#outside) copy.#outside.push(one)
    copy.#errors = this.#errors
    return copy
  }

  /** Registers a file. Diagnostics are sorted by file in the order of registration. */
  registerFile(path: string): void {
    if (!this.#fileOrder.has(path)) this.#fileOrder.set(path, this.#fileOrder.size)
  }

  get hasErrors(): boolean {
    return this.#errors > 0
  }

  /** Returns the reported diagnostics, sorted by file in load order, then by position, then by code. */
  diagnostics(): readonly Diagnostic[] {
    const order = (d: Diagnostic) => (d.span ? (this.#fileOrder.get(d.span.file.path) ?? 0) : -1)
    return this.#found
      .map(one => this.#withHidden(one))
      .sort(
        (a, b) =>
          order(a) - order(b) ||
          (a.span?.start ?? 0) - (b.span?.start ?? 0) ||
          (a.code < b.code ? -1 : a.code > b.code ? 1 : 0),
      )
  }

  #withHidden(diagnostic: Diagnostic): Diagnostic {
    const hidden = diagnostic.span && this.#hidden.get(diagnostic.span.file)
    return hidden ? { ...diagnostic, hidden } : diagnostic
  }
}
