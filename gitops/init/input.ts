import type { ForgeKind } from '../../compiler/values/repository-names.ts'
import type { LoadInput } from '../../project/input.ts'
import type { ArgocdSettings } from '../agents/argocd.ts'
import type { FluxSettings } from '../agents/flux.ts'

/** The settings of a controller's objects, as far as the caller gives them. */
export type AgentSettings = ArgocdSettings & FluxSettings

/** The controller, the folder or artifact that it syncs, and the destination of the file with its objects. */
export interface InitInput extends LoadInput {
  readonly controller: 'argocd' | 'flux'
  /** True for one object that covers every published folder; for Argo CD only. */
  readonly all?: boolean | undefined
  /** The environment's name. */
  readonly name?: string | undefined
  readonly namespace?: string | undefined
  /** Address of the repository, as for `publish`. */
  readonly repository?: string | undefined
  readonly branch?: string | undefined
  /** The folder in the repository that is synced. */
  readonly path?: string | undefined
  /** The folder in the repository for the file; absent: the usual one of the controller. */
  readonly into?: string | undefined
  /** The artifact that is followed, in place of a folder. */
  readonly oci?: string | undefined
  /** The address by which the cluster reads the repository or the registry; absent: the same. */
  readonly url?: string | undefined
  /** Namespace of the controller's own objects; absent: the default one. */
  readonly controllerNamespace?: string | undefined
  readonly settings: AgentSettings
  /** True if the file goes to a branch of its own, with a pull request. */
  readonly pullRequest?: boolean | undefined
  readonly forge?: ForgeKind | undefined
  /** Nothing is committed: the outcome is the text of the file. */
  readonly isTextOnly?: boolean | undefined
  /** Nothing is committed: the outcome says what would be. */
  readonly dryRun?: boolean | undefined
}
