import { toDnsLabel } from '../../compiler/values/dns-name.ts'

/** Information that a controller needs about an application, wherever the application is published. */
interface Followed {
  readonly application: string
  /** Key of the environment, if the application has one. */
  readonly environment?: string
  /** Namespace in which the application runs. */
  readonly namespace: string
  /** True if the manifests include the Namespace object. */
  readonly createNamespace?: boolean
  /**
   * Namespace of the controller's own objects. If absent, the usual namespace of the controller (`argocd`,
   * `flux-system`).
   */
  readonly controllerNamespace?: string
}

/** Information that a controller needs about an application in a repository. */
export interface AgentTarget extends Followed {
  /** Address of the GitOps repository, as used by `publish`. */
  readonly repository: string
  readonly branch: string
  /** Folder in the repository, with `/` as the separator. */
  readonly path: string
  /** Folder of the bases that the application's overlays share. */
  readonly shared?: string
}

/** Information that a controller needs about an application published as a registry artifact. */
export interface ArtifactTarget extends Followed {
  /** Repository with its registry: `registry.example.com/team/shop`. */
  readonly artifact: string
  readonly tag: string
}

/**
 * Returns the name of the controller's object, such as `shop-staging`. Both controllers also write the name into a
 * label.
 */
export const agentName = ({ application, environment }: Pick<AgentTarget, 'application' | 'environment'>): string =>
  toDnsLabel(environment === undefined ? application : `${application}-${environment}`)

/** Returns a folder without a leading `./` and without slashes around it; empty for the root of the repository. */
export const folderOf = (path: string): string => path.replaceAll(/^(\.?\/)+|\/+$/g, '').replace(/^\.$/, '')

/** Returns lines as YAML comments. */
export const comments = (lines: readonly string[]): string => lines.map(line => `# ${line}\n`).join('')
