import type { Diagnostic } from '../../compiler/diagnostics/diagnostic.ts'
import type { CommonEvent } from '../../project/events.ts'
import type { Workspace } from '../../project/workspace.ts'
import type { BuildEvent } from '../events.ts'
import type { PlannedBuild } from '../plan/planned-build.ts'

/** Everything that building needs besides the images. */
export interface EnsureContext {
  readonly workspace: Pick<Workspace, 'cwd' | 'env' | 'secrets' | 'platformImages'>
  readonly on: (event: BuildEvent | CommonEvent) => void
}

export interface EnsureOptions {
  /**
   * The images to build: all; those whose content has changed since they were built; or, for a
   * deploy, these, but images whose content is not known are taken as they are, and so are those of
   * registries that cannot be asked.
   */
  readonly build: 'all' | 'changed' | 'missing'
  /** Images of services that are not to be built, which others may be built on. */
  readonly given: ReadonlyMap<string, string>
  readonly signal: AbortSignal
}

/** Makes sure that images exist. */
export interface ImageBuilder {
  /**
   * True if it only looks for images. It is not asked for those of the manifest, which only commands
   * use.
   */
  readonly isLooking?: true
  /**
   * Returns the references with digests, by service. An image that a registry already has is used unchanged. An image
   * missing from the result is deployed by its tag (a warning says why). Throws `NotBuilt` for images that cannot be
   * built, a UserError if there is no builder, and the signal's reason.
   */
  ensure(images: readonly PlannedBuild[], options: EnsureOptions): Promise<ReadonlyMap<string, string>>
}

/** Images that could not be built. The diagnostics say why, each at its `build`. */
export class NotBuilt extends Error {
  readonly diagnostics: readonly Diagnostic[]

  constructor(diagnostics: readonly Diagnostic[]) {
    super('not all images were built')
    this.diagnostics = diagnostics
  }
}
