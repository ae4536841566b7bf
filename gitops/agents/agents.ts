import { toDnsLabel } from '../../compiler/values/dns-name.ts'

/** The information about an application that a controller needs, wherever it is published. */
interface Followed {
  readonly application: string
  /** The key of the environment, if it has one. */
  readonly environment?: string
  /** Namespace in which the application runs. */
  readonly namespace: string
  /** True if the manifests include the Namespace object. */
  readonly createNamespace?: boolean
  /** Namespace of the controller's own objects; absent: the default one. */
  readonly controllerNamespace?: string
}

/** The information about an application in a repository that a controller needs. */
export interface AgentTarget extends Followed {
  /** Address of the GitOps repository, as used by `publish`. */
  readonly repository: string
  readonly branch: string
  /** Folder in the repository, with `/`. */
  readonly path: string
  /** Folder of the bases, which overlays of the application share. */
  readonly shared?: string
}

/**
 * The information about an application published as a registry artifact that a controller needs.
 */
export interface ArtifactTarget extends Followed {
  /** The repository with its registry: `registry.example.com/team/shop`. */
  readonly artifact: string
  readonly tag: string
}

/** `shop-staging`; both controllers write it into a label, too. */
export const agentName = ({ application, environment }: Pick<AgentTarget, 'application' | 'environment'>): string =>
  toDnsLabel(environment === undefined ? application : `${application}-${environment}`)

/** The folder without `./` before it and slashes around it; the repository's own is empty. */
export const folderOf = (path: string): string => path.replaceAll(/^(\.?\/)+|\/+$/g, '').replace(/^\.$/, '')

/** Lines as comments of YAML. */
export const comments = (lines: readonly string[]): string => lines.map(line => `# ${line}\n`).join('')
