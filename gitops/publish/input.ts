import type { ForgeKind } from '../../compiler/values/repository-names.ts'
import type { LoadInput, PlanInput } from '../../project/input.ts'
import type { LayoutName } from '../repository/layout/readme.ts'

/** Application to publish, and its destination. Absent fields are taken from the environment, or have defaults. */
export interface PublishInput extends LoadInput, Omit<PlanInput, 'includeSecrets'> {
  /** Address or folder of the repository. */
  readonly repository?: string | undefined
  /** Branch to commit to. If absent, the branch of the environment, else the main branch of the repository. */
  readonly branch?: string | undefined
  /** Folder in the repository. If absent, the folder of the environment, else `environments/ENVIRONMENT/NAME`. */
  readonly path?: string | undefined
  readonly layout?: LayoutName | undefined
  /** Reference of an artifact to push instead of a commit: `REGISTRY/PATH` or `REGISTRY/PATH:TAG`. */
  readonly oci?: string | undefined
  /** True to replace files that were edited by hand, or that belong to another application, environment or tool. */
  readonly takeOver?: boolean | undefined
  /** True to build and push images that their registries do not have, before publishing. */
  readonly build?: boolean | undefined
  /** True to write nothing; the outcome is `planned` if something would be written. */
  readonly dryRun?: boolean | undefined
  /**
   * True for a dry run against the branch that controllers read, even if pull requests are set; values that cannot be
   * compared are an error.
   */
  readonly verify?: boolean | undefined
  /** True to publish even though the repository has a newer commit of the source. */
  readonly rollback?: boolean | undefined
  /** True to publish to a separate branch, with a pull request. */
  readonly pullRequest?: boolean | undefined
  /**
   * Kind of the repository's server. If absent, it is derived from the host name, else determined by a request to the
   * server.
   */
  readonly forge?: ForgeKind | undefined
  /**
   * Absolute path of the folder that a local repository path is relative to. If absent, the folder of the manifest or,
   * without a manifest, the current folder.
   */
  readonly addressBase?: string | undefined
  /**
   * Name of the application if neither the input nor a file sets one. If absent, the name of the repository or folder.
   */
  readonly fallbackName?: string | undefined
}
