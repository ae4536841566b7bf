import type { BuildEvent } from '../../builds/events.ts'
import type { DeployOutcome, ServiceState } from './outcome.ts'

/** The events of a deploy and of the builds in it, besides the common ones. */
export type DeployEvent =
  | BuildEvent
  /**
   * The deploy ends before it is done: its promise rejects, or its outcome has `ended`. Has the state of each service.
   */
  | {
      readonly type: 'stopped'
      readonly environment: string
      readonly namespace: string
      /** True if any of it is in the cluster, or was sent to it. */
      readonly isBegun: boolean
      readonly waits: boolean
      readonly services: ReadonlyMap<string, ServiceState>
    }
  /** A repository that the manifest depends on was deployed, or was not. */
  | { readonly type: 'dependency'; readonly outcome: DeployOutcome }
