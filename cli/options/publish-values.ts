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
   * The folder, absolute, from which the path of a repository on this machine leads; default the manifest's, or the
   * current one.
   */
  readonly addressBase?: string
  /** The application's name where neither an option nor a file has one; default that of the repository or folder. */
  readonly fallbackName?: string
  readonly output: 'text' | 'json'
}
