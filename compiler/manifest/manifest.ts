import type { Pair, TlsSource } from '../compose/project.ts'
import type { SecretRules } from '../options.ts'
import type { At, Span } from '../text/source.ts'
import type { Entry } from '../text/tree.ts'
import type { ForgeKind } from '../values/repository-names.ts'
import type { Development } from './development.ts'
import type { Forward } from './forward.ts'

/**
 * A manifest that was read and checked. Its paths are as written, relative to `folder`. Its values keep their positions
 * in the file.
 */
export interface DevctlManifest {
  /** Absolute path of the file. For an automatic manifest, the path of the chart or of the Kubernetes manifests. */
  readonly path: string
  /** Path of the file for messages. */
  readonly shown: string
  /**
   * Absolute path of the manifest's folder, or of the parent folder of `.devctl`. Commands run in it, and paths are
   * relative to it.
   */
  readonly folder: string
  /** The automatic rule that created the manifest. Absent if the manifest is a file. */
  readonly automatic?: 'chart' | 'manifests'
  /** Set if the file is an Okteto manifest, which devctl reads but never writes. */
  readonly dialect?: 'okteto'
  readonly name?: At<string>
  readonly namespace?: At<string>
  readonly context?: At<string>
  /** Domain for environments that do not set one. */
  readonly domain?: At<string>
  /** Registry for environments that do not set one. */
  readonly registry?: At<string>
  readonly build: ReadonlyMap<string, ImageBuild>
  readonly deploy?: DeploySection
  readonly destroy?: Destroy
  /**
   * The names of the variables that the manifest lists or refers to. Commands get no other variables from the platform
   * and the cluster.
   */
  readonly variables: ReadonlySet<string>
  readonly dev: ReadonlyMap<string, Development>
  readonly dependencies: readonly ManifestDependency[]
  readonly forward: readonly Forward[]
  readonly environments: ReadonlyMap<string, ManifestEnvironment>
}

/** A command of `deploy` or `destroy`. A shell runs it and expands its variables. */
export interface SectionCommand {
  /** The name in progress output. If the command has no name, its first line. */
  readonly name: string
  readonly command: string
  /** Position of the command. */
  readonly span: Span
}

export interface DeploySection {
  readonly span: Span
  readonly commands: readonly SectionCommand[]
  /** The Compose files that the section names. Absent if it names none. */
  readonly compose?: ComposeFiles
  /** `endpoints`, which replace the endpoints of the Compose files. Their structure is checked. */
  readonly endpoints?: Entry
}

export interface ComposeFiles {
  /** The files, merged from first to last; at least one. */
  readonly files: readonly At<string>[]
  /** The services to deploy, together with their dependencies. If empty, all services. */
  readonly services: readonly At<string>[]
}

export interface Destroy {
  readonly span: Span
  readonly commands: readonly SectionCommand[]
}

/** An image to build, as declared in the section `build` of a manifest. */
export interface ImageBuild {
  readonly name: string
  readonly span: Span
  readonly context: At<string>
  readonly dockerfile?: At<string>
  readonly target?: At<string>
  readonly image?: At<string>
  readonly args: readonly Pair[]
  readonly cacheFrom: readonly At<string>[]
  /** Images that the cache is written to. */
  readonly exportCache: readonly At<string>[]
  readonly secrets: readonly BuildSecret[]
  /** Other images in `build` that are built before this one. There are no cycles. */
  readonly dependsOn: readonly At<string>[]
}

export interface BuildSecret {
  readonly id: string
  readonly from: 'file' | 'env'
  /** The path of the file, or the name of the variable. */
  readonly source: At<string>
  /** The value of the variable, if it is set. */
  readonly value?: string
}

/** A repository that is deployed before this one. */
export interface ManifestDependency {
  readonly name: string
  readonly span: Span
  readonly repository: At<string>
  readonly manifest?: At<string>
  readonly branch?: At<string>
  readonly variables: readonly Pair[]
  /** Timeout in milliseconds. */
  readonly timeout?: At<number>
  readonly wait: boolean
}

/**
 * An environment, selected by `--environment NAME`. Settings that only other commands use, such as `publish`, are read
 * and checked as well.
 */
export interface ManifestEnvironment {
  readonly key: string
  readonly span: Span
  readonly name?: At<string>
  readonly namespace?: At<string>
  readonly context?: At<string>
  readonly domain?: At<string>
  /** Compose files of the environment, which are merged over the other Compose files. */
  readonly compose: readonly At<string>[]
  /** Active profiles. If absent, COMPOSE_PROFILES decides. */
  readonly profiles?: readonly At<string>[]
  readonly variables: readonly Pair[]
  readonly envFiles: readonly At<string>[]
  readonly routes?: 'ingress' | 'gateway'
  readonly gateway?: At<string>
  readonly ingressClass?: At<string>
  readonly tlsSecret?: At<string>
  readonly tls?: TlsSource
  readonly routeAnnotations: readonly Pair[]
  readonly policy?: 'restricted'
  readonly registry?: At<string>
  /** Image references, by service. */
  readonly images: readonly Pair[]
  readonly shellImage?: At<string>
  readonly kubectlImage?: At<string>
  readonly publish: PublishTarget
  readonly secrets: SecretRules
}

/** Destination of the manifests that `publish` writes. */
export interface PublishTarget {
  readonly repository?: At<string>
  /** Address to push an artifact to. If set, `repository` is absent. */
  readonly oci?: At<string>
  readonly branch?: At<string>
  readonly path?: At<string>
  readonly layout: 'plain' | 'single-file' | 'kustomize'
  /** Settings of the pull request. If absent, commits are pushed directly to the branch. */
  readonly pullRequest?: PullRequestRules
  /** True to add the Namespace object. */
  readonly createNamespace: boolean
  /** True to add Argo CD sync waves. */
  readonly syncWaves: boolean
}

/**
 * Settings with which a pull request is created. Later runs leave the settings of the pull request as they are, because
 * reviewers may have changed them.
 */
export interface PullRequestRules {
  readonly labels: readonly At<string>[]
  readonly reviewers: readonly At<string>[]
  readonly draft: boolean
  /** The kind of git server, if its host name does not indicate it. */
  readonly forge?: ForgeKind
}
