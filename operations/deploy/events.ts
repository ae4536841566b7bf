import type { BuildEvent } from '../../builds/events.ts'
import type { DeployOutcome, ServiceState } from './outcome.ts'

/** Events of a deploy and of its builds, in addition to the common events. */
export type DeployEvent =
  | BuildEvent
  /** The deploy ends early: its promise rejects, or its outcome has `ended`. Contains the state of each service. */
  | {
      readonly type: 'stopped'
      readonly environment: string
      readonly namespace: string
      /** True if an object is in the cluster or was sent to it. */
      readonly isBegun: boolean
      readonly waits: boolean
      readonly services: ReadonlyMap<string, ServiceState>
    }
  /** Outcome for a repository that the manifest depends on. */
  | { readonly type: 'dependency'; readonly outcome: DeployOutcome }
