import type { ForgeKind } from '../../compiler/values/repository-names.ts'
import type { LoadInput } from '../../project/input.ts'
import type { ArgocdSettings } from '../agents/argocd.ts'
import type { FluxSettings } from '../agents/flux.ts'

/** Settings of a controller's objects that the caller may set. */
export type AgentSettings = ArgocdSettings & FluxSettings

/** The controller, the folder or artifact that it syncs, and the destination of the file with its objects. */
export interface InitInput extends LoadInput {
  readonly controller: 'argocd' | 'flux'
  /** True to create one object that covers every published folder; only for Argo CD. */
  readonly all?: boolean | undefined
  /** Name of the environment. */
  readonly name?: string | undefined
  readonly namespace?: string | undefined
  /** Address of the repository, as for `publish`. */
  readonly repository?: string | undefined
  readonly branch?: string | undefined
  /** Folder in the repository that is synced. */
  readonly path?: string | undefined
  /** Folder in the repository for the file. If absent, the controller's usual folder. */
  readonly into?: string | undefined
  /** Artifact to follow, instead of a folder. */
  readonly oci?: string | undefined
  /**
   * Address from which the cluster reads the repository or the registry. If absent, the cluster uses the same address
   * as devctl.
   */
  readonly url?: string | undefined
  /**
   * Namespace of the controller's own objects. If absent, the usual namespace of the controller (`argocd`,
   * `flux-system`).
   */
  readonly controllerNamespace?: string | undefined
  readonly settings: AgentSettings
  /** True if the file goes to a separate branch, with a pull request. */
  readonly pullRequest?: boolean | undefined
  readonly forge?: ForgeKind | undefined
  /** True to commit nothing; the outcome is the text of the file. */
  readonly isTextOnly?: boolean | undefined
  /** True to commit nothing; the outcome describes the commit that would be made. */
  readonly dryRun?: boolean | undefined
}
