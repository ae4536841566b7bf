import type { DiagnosticKind } from '../diagnostics/diagnostic.ts'
import { check } from '../schema/check.ts'
import type { SchemaProblem } from '../schema/diagnostics.ts'
import { Findings } from '../schema/findings.ts'
import type { ModelPath } from '../schema/model-path.ts'
import type { Span } from '../text/source.ts'
import type { MapTree } from '../text/tree.ts'
import { manifestMistakes } from './mistakes.ts'
import { manifestShape } from './shape.ts'

/** A key that the manifest of devctl does not have. */
export interface UnknownKey {
  readonly path: ModelPath
  readonly key: Span
  /** The known key that the unknown key resembles. */
  readonly hint?: string | undefined
}

/** Returns the keys of a converted Okteto manifest that neither tool knows, in source order. */
export function unknownKeysIn(tree: MapTree): readonly UnknownKey[] {
  const findings = new UnknownKeys(manifestMistakes)
  check(tree, manifestShape, { path: [], keySpan: tree.span }, findings)
  return findings.keys
}

class UnknownKeys extends Findings {
  readonly keys: UnknownKey[] = []

  override add<P extends SchemaProblem>(kind: DiagnosticKind<P>, span: Span, parameters: P, path: ModelPath): void {
    if (kind.code !== this.diagnostics.unknownKey(path).code) return
    this.keys.push({ path, key: span, ...('hint' in parameters && { hint: parameters.hint as string | undefined }) }) // of a KeyProblem
  }
}
