import type { Diagnostic } from '../../compiler/diagnostics/diagnostic.ts'
import type { UnreadyWorkload } from '../../environment/apply/retry-stuck.ts'
import type { PublicAddress } from '../../environment/endpoints/routes.ts'

/** The outcome for a service: each has exactly one. */
export type ServiceState = 'ready' | 'not-ready' | 'not-made' | 'not-changed' | 'not-waited-for'

/** The outcome of a deploy. Errors were reported by events before. */
export type DeployOutcome =
  /** The files have errors, and nothing was deployed. */
  | { readonly kind: 'refused'; readonly diagnostics: readonly Diagnostic[] }
  /**
   * A repository that the manifest depends on was not deployed, so this was not begun. Its own
   * outcome was reported by an event.
   */
  | { readonly kind: 'dependency-failed' }
  /** A command of the manifest failed, so its services were not deployed. */
  | { readonly kind: 'command-failed'; readonly environment: string; readonly namespace: string }
  | (Deployed & {
      readonly kind: 'deployed'
      /** Nothing had to be done. */
      readonly isUpToDate: boolean
      /** The deleted objects, as `deployment/web`. */
      readonly pruned: readonly string[]
      /** Workloads that were not ready when it began although nothing of them was to be changed. */
      readonly unready: readonly UnreadyWorkload[]
      /** The variables that its commands handed on. */
      readonly variables: Readonly<Record<string, string>>
    })
  /** Services do not start. */
  | (Deployed & {
      readonly kind: 'failed'
      /** The reason why it ended before all was done: the deadline. */
      readonly ended?: unknown
    })

/** The environment after a deploy. */
interface Deployed {
  /** A DNS label. */
  readonly environment: string
  readonly namespace: string
  /** The services that were named, where it was a part of the application. */
  readonly named?: readonly string[]
  /** True if all workloads were waited for. */
  readonly waits: boolean
  /** Every service that was to be deployed, in the order of the plan. */
  readonly services: ReadonlyMap<string, ServiceState>
  /** Public addresses whose routes have been applied. */
  readonly endpoints: readonly PublicAddress[]
  readonly milliseconds: number
}
