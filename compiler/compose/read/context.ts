import type { Reporter } from '../../diagnostics/reporter.ts'
import type { Span } from '../../text/source.ts'

/** The input of the readers of a service, beside its tree. */
export interface ReadContext {
  readonly reporter: Reporter
  /** The name of the service. */
  readonly service: string
  /** The position of its key. */
  readonly span: Span
  /** The project's folder, absolute. */
  readonly directory: string
  /** The platform of builds that set none (`DOCKER_DEFAULT_PLATFORM`); absent: that of the builder. */
  readonly defaultPlatform?: string | undefined
  /** The images of other services that its Dockerfile names, with the name by which BuildKit looks each up. */
  readonly baseImages: readonly { readonly service: string; readonly image: string; readonly span: Span }[]
  /** The dependencies implied by links, shared namespaces and volumes_from, as `web db`. */
  readonly implicitDependencies: ReadonlySet<string>
  /** True if a variable of the service gets its value from a Secret of the cluster. */
  readonly isFromSecret: (variable: string) => boolean
}
