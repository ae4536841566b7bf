import type { DiagnosticKind, Related } from '../diagnostics/diagnostic.ts'
import type { Reporter } from '../diagnostics/reporter.ts'
import type { Span } from '../text/source.ts'
import type { ScalarTree, Tree, UsedVariable } from '../text/tree.ts'
import type { Mistakes, Place } from './mistakes.ts'
import { type ModelPath, ownerOf } from './where.ts'

interface Finding {
  readonly owners: Set<string>
  readonly report: (reporter: Reporter, notes: readonly string[]) => void
}

/** Values that are not to be checked. */
export interface Unchecked {
  /** Whether the value of a scalar is not known yet. */
  readonly isOpen?: (tree: ScalarTree) => boolean
  /** Values about which something was reported before. */
  readonly reported?: ReadonlySet<Tree>
}

const MOST_HINTS = 200

/**
 * Collects mistakes until all is checked: what an anchor, `extends` or a merge key brings to several services is one mistake, at one
 * place of the text, and is reported once with the names of the others.
 */
export class Findings {
  readonly #found = new Map<string, Finding>()
  /** The diagnostics of the kind of file that is checked. */
  readonly mistakes: Mistakes

  readonly #unchecked: Unchecked
  #hints = 0

  constructor(mistakes: Mistakes, unchecked: Unchecked = {}) {
    this.mistakes = mistakes
    this.#unchecked = unchecked
  }

  /** Whether another hint may be looked for, which takes a look at all known words: nobody reads a thousand of them. */
  mayHint(): boolean {
    return this.#hints++ < MOST_HINTS
  }

  /** Whether there is nothing to check about a value; `isAllowed` where a single value may stand there at all. */
  isUnchecked(tree: ScalarTree, isAllowed: boolean): boolean {
    const { isOpen, reported } = this.#unchecked
    return reported?.has(tree) === true || (isAllowed && isOpen?.(tree) === true)
  }

  /** Notes a mistake at `span`. `tree` is the value that is wrong: its variables are explained. */
  add<P extends Place>(
    kind: DiagnosticKind<P>,
    span: Span,
    parameters: P,
    path: ModelPath,
    tree?: Tree,
    related?: readonly Related[],
  ): void {
    const key = `${kind.code} ${span.file.path} ${span.start} ${span.end} ${path.at(-1)}`
    const owner = ownerOf(path)
    const known = this.#found.get(key)
    if (known) {
      if (owner !== undefined) known.owners.add(owner)
      return
    }
    const variables = tree?.kind === 'scalar' ? (tree.variables ?? []).map(origin) : []
    this.#found.set(key, {
      owners: new Set(owner === undefined ? [] : [owner]),
      report: (reporter, notes) =>
        reporter.report(kind, span, { ...parameters, notes: [...variables, ...notes] }, related),
    })
  }

  /** Reports everything that was noted. */
  report(reporter: Reporter): void {
    for (const { owners, report } of this.#found.values())
      report(reporter, owners.size > 1 ? [sharedBy([...owners])] : [])
  }
}

/** Where a variable's value came from. The value itself may be a secret. */
function origin({ name, origin }: UsedVariable): string {
  if (origin === 'nowhere') return `\`${name}\` is set nowhere and counts as empty`
  if (origin === 'its default') return `\`${name}\` is set nowhere, so that its default is used`
  return `\`${name}\` comes from ${origin}`
}

function sharedBy([, ...others]: readonly string[]): string {
  const named = others.slice(0, 3).join(', ')
  return `the same lines are also in ${named}${others.length > 3 ? ` and ${others.length - 3} more` : ''}`
}
