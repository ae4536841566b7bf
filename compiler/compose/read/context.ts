import type { Reporter } from '../../diagnostics/reporter.ts'
import type { Span } from '../../text/source.ts'
import type { Model } from '../project.ts'

/** The input of a service's readers, besides its tree. */
export interface ReadContext {
  readonly reporter: Reporter
  /** The name of the service. */
  readonly service: string
  /** The position of the service's key. */
  readonly span: Span
  /** Absolute path of the project folder. */
  readonly directory: string
  /**
   * The platform for builds that do not set one (`DOCKER_DEFAULT_PLATFORM`). If absent, the builder's platform is used.
   */
  readonly defaultPlatform?: string | undefined
  /**
   * The images of other services that the service's Dockerfile names, each with the name that BuildKit uses to look it
   * up.
   */
  readonly baseImages: readonly { readonly service: string; readonly image: string; readonly span: Span }[]
  /** The dependencies implied by links, shared namespaces and volumes_from, in the form `web db`. */
  readonly implicitDependencies: ReadonlySet<string>
  /** The top-level `models`, by key. */
  readonly models: ReadonlyMap<string, Model>
  /** True if the value of a variable of the service comes from a Secret in the cluster. */
  readonly isFromSecret: (variable: string) => boolean
}
