import { diagnostic } from '../diagnostics/diagnostic.ts'
import type { Reporter } from '../diagnostics/reporter.ts'
import type { Span } from '../text/source.ts'

const duplicate = diagnostic({
  code: 'manifest/duplicate',
  severity: 'error',
  explain: `Two entries of a manifest that must differ are the same: two forwards with the same local port, two dependencies with the same name, two folders synchronised to the same path, a volume listed twice. The second would replace the first.`,
  text: (p: { what: string; hint?: string | undefined }) => ({ message: `${p.what} twice`, hint: p.hint }),
})

/** Detects duplicates. `add` returns true for a new identity, and reports an identity that was added before. */
export class Distinct {
  readonly #seen = new Map<string, Span>()
  readonly #reporter: Reporter

  constructor(reporter: Reporter) {
    this.#reporter = reporter
  }

  /**
   * Adds an identity. `what` is the subject of the message and is followed by `twice`: `` local port `8080` is
   * forwarded ``.
   */
  add(identity: string, span: Span, what: string, hint?: string): boolean {
    const first = this.#seen.get(identity)
    if (!first) {
      this.#seen.set(identity, span)
      return true
    }
    this.#reporter.report(duplicate, span, { what, hint }, [{ span: first, message: 'the first one is here' }])
    return false
  }
}
