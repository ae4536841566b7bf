import type { Pair, TlsSource } from '../compose/project.ts'
import type { SecretRules } from '../options.ts'
import type { At, Span } from '../text/source.ts'
import type { Entry } from '../text/tree.ts'
import type { ForgeKind } from '../values/repository-names.ts'
import type { Development } from './development.ts'
import type { Forward } from './forward.ts'

/**
 * A manifest, read and checked. Paths are as written and relative to `folder`; values still know
 * where they were written.
 */
export interface DevctlManifest {
  /**
   * Absolute path of the file; of the chart or folder where the rules for them made the manifest.
   */
  readonly path: string
  /** Path as messages show it. */
  readonly shown: string
  /** Absolute: where commands run, and what paths are relative to. The folder around `.devctl`. */
  readonly folder: string
  /** The automatic rule that made the manifest; absent for one that is written. */
  readonly automatic?: 'chart' | 'manifests'
  readonly name?: At<string>
  readonly namespace?: At<string>
  readonly context?: At<string>
  /** Domain for environments that name none. */
  readonly domain?: At<string>
  /** Registry for environments that name none. */
  readonly registry?: At<string>
  readonly build: ReadonlyMap<string, ImageBuild>
  readonly deploy?: DeploySection
  readonly destroy?: Destroy
  /** The names of the variables that its commands may get from the platform and the cluster: it names them. */
  readonly variables: ReadonlySet<string>
  readonly dev: ReadonlyMap<string, Development>
  readonly dependencies: readonly ManifestDependency[]
  readonly forward: readonly Forward[]
  readonly environments: ReadonlyMap<string, ManifestEnvironment>
}

/** A command of `deploy` or `destroy`. The shell runs it and expands the variables in it. */
export interface SectionCommand {
  /** The name in progress output; the command itself if it has no name. */
  readonly name: string
  readonly command: string
  /** Position of the command. */
  readonly span: Span
}

export interface DeploySection {
  readonly span: Span
  readonly commands: readonly SectionCommand[]
  /** The Compose files that are named; absent where none is. */
  readonly compose?: ComposeFiles
  /** `endpoints`, whose structure is checked: they replace those of the Compose files. */
  readonly endpoints?: Entry
}

export interface ComposeFiles {
  /** Merged from left to right; at least one. */
  readonly files: readonly At<string>[]
  /** The services to deploy, and what they depend on; empty: all. */
  readonly services: readonly At<string>[]
}

export interface Destroy {
  readonly span: Span
  readonly commands: readonly SectionCommand[]
}

/** An image to build. */
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
  /** Other entries, built before; no cycles. */
  readonly dependsOn: readonly At<string>[]
}

export interface BuildSecret {
  readonly id: string
  readonly from: 'file' | 'env'
  /** The path, or the name of the variable. */
  readonly source: At<string>
  /** The value of the variable, if it is set. */
  readonly value?: string
}

/** A repository that is deployed first. */
export interface ManifestDependency {
  readonly name: string
  readonly span: Span
  readonly repository: At<string>
  readonly manifest?: At<string>
  readonly branch?: At<string>
  readonly variables: readonly Pair[]
  /** Limit in milliseconds. */
  readonly timeout?: At<number>
  readonly wait: boolean
}

/**
 * An environment, selected by `--environment NAME`. Settings of later commands (publish) are read
 * and checked, too.
 */
export interface ManifestEnvironment {
  readonly key: string
  readonly span: Span
  readonly name?: At<string>
  readonly namespace?: At<string>
  readonly context?: At<string>
  readonly domain?: At<string>
  /** Compose files that are merged over the others. */
  readonly compose: readonly At<string>[]
  /** Absent: not said, so that COMPOSE_PROFILES decides. */
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
  /** Image references by service. */
  readonly images: readonly Pair[]
  readonly shellImage?: At<string>
  readonly kubectlImage?: At<string>
  readonly publish: PublishTarget
  readonly secrets: SecretRules
}

/** Target to which `publish` writes the manifests. */
export interface PublishTarget {
  readonly repository?: At<string>
  /** Address that an artifact is pushed to; no repository is set then. */
  readonly oci?: At<string>
  readonly branch?: At<string>
  readonly path?: At<string>
  readonly layout: 'plain' | 'single-file' | 'kustomize'
  /** Absent: commits are pushed to the branch itself. */
  readonly pullRequest?: PullRequestRules
  /** Add the object of the namespace. */
  readonly createNamespace: boolean
  /** Add sync waves of Argo CD. */
  readonly syncWaves: boolean
}

/** The settings of a new pull request; later runs leave them to its reviewers. */
export interface PullRequestRules {
  readonly labels: readonly At<string>[]
  readonly reviewers: readonly At<string>[]
  readonly draft: boolean
  /** The kind of server, if its host name does not show it. */
  readonly forge?: ForgeKind
}
