import type { Reporter } from '../../diagnostics/reporter.ts'
import type { Span } from '../../text/source.ts'

/** What a reader of a service's fields may know besides the service itself. */
export interface ReadContext {
  readonly reporter: Reporter
  /** The name of the service that is read. */
  readonly service: string
  /** Where its key is written. */
  readonly span: Span
  /** The dependencies that links, shared namespaces and volumes_from add, as `web db`. */
  readonly implicitDependencies: ReadonlySet<string>
  /** Whether a Secret of the cluster holds the value of a variable of the service. */
  readonly isMapped: (variable: string) => boolean
}
