import type { DiagnosticKind, Related } from '../diagnostics/diagnostic.ts'
import type { Reporter } from '../diagnostics/reporter.ts'
import type { Span } from '../text/source.ts'
import type { ScalarTree, Tree, UsedVariable } from '../text/tree.ts'
import type { SchemaDiagnostics, SchemaProblem } from './diagnostics.ts'
import { describeResource, type ModelPath } from './model-path.ts'

interface Finding {
  readonly resources: Set<string>
  readonly report: (reporter: Reporter, notes: readonly string[]) => void
}

/** Values and missing keys that a check does not report. */
export interface Unchecked {
  /** True for a scalar whose value is not known yet. */
  readonly isUnresolved?: (tree: ScalarTree) => boolean
  /** Values that have already been reported. */
  readonly reported?: ReadonlySet<Tree>
  /** True if required keys may be in a file that could not be read. */
  readonly isPartial?: boolean
}

const MAX_HINTS = 200

/**
 * Collects the errors of a check before reporting them. An error in text that several services share (through an
 * anchor, `extends` or a merge key) is reported once, with the names of the other services.
 */
export class Findings {
  readonly #found = new Map<string, Finding>()
  /** The diagnostics for this kind of file. */
  readonly diagnostics: SchemaDiagnostics

  readonly #unchecked: Unchecked
  readonly #paths: ModelPath[] = []
  #hints = 0

  constructor(mistakes: SchemaDiagnostics, unchecked: Unchecked = {}) {
    this.diagnostics = mistakes
    this.#unchecked = unchecked
  }

  /**
   * Returns true until the maximum number of hints is reached. Each hint compares a key with all known keys, which is
   * expensive.
   */
  mayHint(): boolean {
    return this.#hints++ < MAX_HINTS
  }

  /** The paths of values in error and of missing keys. */
  get paths(): readonly ModelPath[] {
    return this.#paths
  }

  /** True if missing keys are reported. */
  get reportsMissing(): boolean {
    return this.#unchecked.isPartial !== true
  }

  /** True if a scalar is exempt from checks. `isAllowed` is true if the shape accepts scalars. */
  isUnchecked(tree: ScalarTree, isAllowed: boolean): boolean {
    const { isUnresolved: isOpen, reported } = this.#unchecked
    return reported?.has(tree) === true || (isAllowed && isOpen?.(tree) === true)
  }

  /** Adds an error at `span`. If `tree`, the value in error, is given, the notes name the variables in it. */
  add<P extends SchemaProblem>(
    kind: DiagnosticKind<P>,
    span: Span,
    parameters: P,
    path: ModelPath,
    { tree, related }: { readonly tree?: Tree; readonly related?: readonly Related[] } = {},
  ): void {
    const key = `${kind.code} ${span.file.path} ${span.start} ${span.end} ${path.at(-1)}`
    const owner = describeResource(path)
    if (kind.severity === 'error') this.#paths.push(path)
    const known = this.#found.get(key)
    if (known) {
      if (owner !== undefined) known.resources.add(owner)
      return
    }
    const variables = tree?.kind === 'scalar' ? (tree.variables ?? []).map(origin) : []
    this.#found.set(key, {
      resources: new Set(owner === undefined ? [] : [owner]),
      report: (reporter, notes) =>
        reporter.report(kind, span, { ...parameters, notes: [...variables, ...notes] }, related),
    })
  }

  /** Adds a value that must not be read, without reporting an error. */
  addUnreported(path: ModelPath): void {
    this.#paths.push(path)
  }

  /** Reports all collected errors. */
  report(reporter: Reporter): void {
    for (const { resources: owners, report } of this.#found.values())
      report(reporter, owners.size > 1 ? [sharedBy([...owners])] : [])
  }
}

/** Describes the origin of a variable's value. Does not show the value, because it may be secret. */
function origin({ name, origin }: UsedVariable): string {
  if (origin === 'nowhere') return `\`${name}\` is set nowhere and counts as empty`
  if (origin === 'its default') return `\`${name}\` is set nowhere, so that its default is used`
  return `\`${name}\` comes from ${origin}`
}

function sharedBy([, ...others]: readonly string[]): string {
  const named = others.slice(0, 3).join(', ')
  return `the same lines are also in ${named}${others.length > 3 ? ` and ${others.length - 3} more` : ''}`
}
