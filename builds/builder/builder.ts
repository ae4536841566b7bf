import type { Diagnostic } from '../../compiler/diagnostics/diagnostic.ts'
import type { CommonEvent } from '../../project/events.ts'
import type { Workspace } from '../../project/workspace.ts'
import type { BuildEvent } from '../events.ts'
import type { PlannedBuild } from '../plan/planned-build.ts'

/** Everything that a build needs besides the images. */
export interface EnsureContext {
  readonly workspace: Pick<Workspace, 'cwd' | 'env' | 'secrets' | 'platformImages'>
  readonly on: (event: BuildEvent | CommonEvent) => void
}

export interface EnsureOptions {
  /**
   * Images to build. `all`: every image. `changed`: images whose content has changed since they were built. `missing`:
   * for a deploy, like `changed`, but an image is used unchanged if its content is unknown or its registry cannot be
   * reached.
   */
  readonly build: 'all' | 'changed' | 'missing'
  /** Images of the services that are not built, by service. The images to build may be based on them. */
  readonly given: ReadonlyMap<string, string>
  readonly signal: AbortSignal
}

/** Ensures that images exist. */
export interface ImageBuilder {
  /**
   * True if the builder only checks which images exist. Such a builder is not called for the images of the manifest,
   * because only commands use those images.
   */
  readonly isLooking?: true
  /**
   * Returns the references with digests, by service. An image that a registry already has is used unchanged. An image
   * missing from the result is deployed by its tag (a warning gives the reason). Throws `NotBuilt` for images that
   * cannot be built, a UserError if no builder exists, or the signal's abort reason.
   */
  ensure(images: readonly PlannedBuild[], options: EnsureOptions): Promise<ReadonlyMap<string, string>>
}

/** Error for images that could not be built. The diagnostics give the reasons, each at the `build` of its service. */
export class NotBuilt extends Error {
  readonly diagnostics: readonly Diagnostic[]

  constructor(diagnostics: readonly Diagnostic[]) {
    super('not all images were built')
    this.diagnostics = diagnostics
  }
}
