import type { ForgeKind } from '../../compiler/values/repository-names.ts'
import type { LoadInput, PlanInput } from '../../project/input.ts'
import type { LayoutName } from '../repository/layout/readme.ts'

/**
 * The application to publish, and its destination. Absent fields are taken from the environment, or
 * have their defaults.
 */
export interface PublishInput extends LoadInput, Omit<PlanInput, 'includeSecrets'> {
  /** Address or folder of the repository. */
  readonly repository?: string | undefined
  /** Absent: the environment's, else the main branch of the repository. */
  readonly branch?: string | undefined
  /** Folder in the repository; absent: the environment's, else `environments/ENVIRONMENT/NAME`. */
  readonly path?: string | undefined
  readonly layout?: LayoutName | undefined
  /** `REGISTRY/PATH` or `REGISTRY/PATH:TAG`: pushes an artifact, in place of a commit. */
  readonly oci?: string | undefined
  /** True if files that were edited by hand, or belong to something else, are to be replaced. */
  readonly takeOver?: boolean | undefined
  /** True if images that their registries do not have are to be built and pushed first. */
  readonly build?: boolean | undefined
  /** Nothing is written: the outcome is `planned` where something would be. */
  readonly dryRun?: boolean | undefined
  /**
   * True for a dry run against the branch that controllers read, even if pull requests are set; values that cannot be
   * compared are an error.
   */
  readonly verify?: boolean | undefined
  /** True if it is to be published although the repository holds a newer commit of the source. */
  readonly rollback?: boolean | undefined
  /** True if it is to go to a branch of its own, with a pull request. */
  readonly pullRequest?: boolean | undefined
  /** The kind of server the repository is on; absent: known by its host, else the server is asked. */
  readonly forge?: ForgeKind | undefined
  /**
   * The folder, absolute, that the path of a repository on this machine is relative to; absent: that of the manifest,
   * or the current one.
   */
  readonly addressBase?: string | undefined
  /** The application's name where neither the input nor a file has one; absent: that of the repository or folder. */
  readonly fallbackName?: string | undefined
}
