import type { ForgeKind } from '../../compiler/values/repository-names.ts'
import type { PublishingValues } from './publish.ts'

export interface PublishValues extends PublishingValues {
  readonly dryRun: boolean
  readonly verify: boolean
  readonly rollback: boolean
  readonly pullRequest: boolean
  readonly forge: ForgeKind | undefined
  /** Reference of the artifact to push, instead of a commit. */
  readonly oci?: string | undefined
  /**
   * Absolute path of the folder that the path of a local repository is relative to; defaults to the manifest's folder,
   * or the current folder.
   */
  readonly addressBase?: string
  /** Application name if neither an option nor a file sets one; defaults to the name of the repository or folder. */
  readonly fallbackName?: string
  readonly output: 'text' | 'json'
}
