import type { Diagnostic } from '../../compiler/diagnostics/diagnostic.ts'
import type { UnreadyWorkload } from '../../environment/apply/retry-stuck.ts'
import type { PublicAddress } from '../../environment/endpoints/routes.ts'

/** Outcome for a service. Each service of a deploy has exactly one outcome. */
export type ServiceState = 'ready' | 'not-ready' | 'not-made' | 'not-changed' | 'not-waited-for'

/** Outcome of a deploy. Errors have already been reported by events. */
export type DeployOutcome =
  /** The files have errors, and nothing was deployed. */
  | { readonly kind: 'refused'; readonly diagnostics: readonly Diagnostic[] }
  /**
   * A repository that the manifest depends on could not be deployed, so this project was not started. The repository's
   * own outcome was reported by an event.
   */
  | { readonly kind: 'dependency-failed' }
  /** A command of the manifest failed, so the services of the project were not deployed. */
  | { readonly kind: 'command-failed'; readonly environment: string; readonly namespace: string }
  | (Deployed & {
      readonly kind: 'deployed'
      /** True if nothing had to be changed. */
      readonly isUpToDate: boolean
      /** Deleted objects, such as `deployment/web`. */
      readonly pruned: readonly string[]
      /** Workloads that were not ready when the deploy began, although the deploy did not change them. */
      readonly unready: readonly UnreadyWorkload[]
      /** Variables that the commands passed on. */
      readonly variables: Readonly<Record<string, string>>
    })
  /** Services failed to start. */
  | (Deployed & {
      readonly kind: 'failed'
      /** Reason why the deploy ended early, such as the deadline. */
      readonly ended?: unknown
    })

/** Environment after a deploy. */
interface Deployed {
  /** Name of the environment, a DNS label. */
  readonly environment: string
  readonly namespace: string
  /** Services that the user named, if only a part of the application was deployed. */
  readonly named?: readonly string[]
  /** True if the deploy waited for all workloads. */
  readonly waits: boolean
  /** State of every service that should be deployed, in the order of the plan. */
  readonly services: ReadonlyMap<string, ServiceState>
  /** Public addresses whose routes were applied. */
  readonly endpoints: readonly PublicAddress[]
  readonly milliseconds: number
}
