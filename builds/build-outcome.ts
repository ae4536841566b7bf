import type { Diagnostic } from '../compiler/diagnostics/diagnostic.ts'
import { type EnsureContext, NotBuilt } from './builder/builder.ts'

export type BuildOutcome =
  /** The files have errors, or images were not built. The diagnostics were already reported. */
  | { readonly kind: 'refused' | 'failed'; readonly diagnostics: readonly Diagnostic[] }
  | {
      readonly kind: 'built'
      /** References with digests, by service. */
      readonly images: ReadonlyMap<string, string>
    }

/** Returns the outcome of work that produces images. Reports the diagnostics of images that were not built. */
export async function outcomeOf(
  on: EnsureContext['on'],
  work: () => Promise<ReadonlyMap<string, string>>,
): Promise<BuildOutcome> {
  try {
    return { kind: 'built', images: await work() }
  } catch (error) {
    if (!(error instanceof NotBuilt)) throw error
    on({ type: 'diagnostics', diagnostics: error.diagnostics })
    return { kind: 'failed', diagnostics: error.diagnostics }
  }
}
