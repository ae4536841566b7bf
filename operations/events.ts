import type { Diagnostic } from '../compiler/diagnostics/diagnostic.ts'
import type { BuildEvent } from './build/events.ts'
import type { DeployOutcome, ServiceState } from './deploy/outcome.ts'
import type { DestroyOutcome } from './destroy/outcome.ts'
import type { DevelopEvent } from './develop/events.ts'
import type { LogEvent } from './logs/events.ts'
import type { WorkloadStatus } from './objects/status.ts'
import type { PublishEvent } from './publish/events.ts'

/** The events of an operation in progress, one after another. */
export type OperationEvent =
  | PublishEvent
  | LogEvent
  | BuildEvent
  | DevelopEvent
  /** A part of the work is over. */
  | { readonly type: 'step'; readonly step: string; readonly text: string }
  /** Work on a service. */
  | { readonly type: 'waiting'; readonly service: string; readonly for: readonly string[] }
  | {
      readonly type: 'status'
      readonly service: string
      readonly state: WorkloadStatus['state']
      readonly text: string
    }
  /** An object was written or deleted. */
  | { readonly type: 'object'; readonly action: 'create' | 'update' | 'replace' | 'delete'; readonly object: string }
  /** A line that a command of the manifest has printed. */
  | { readonly type: 'output'; readonly command: string; readonly stream: 'stdout' | 'stderr'; readonly text: string }
  | { readonly type: 'note'; readonly text: string }
  /** What devctl has chosen, and which setting decided; for those who ask (`--loglevel info`). */
  | { readonly type: 'choice'; readonly text: string }
  /** Something that a person should know, and that does not stop the work. */
  | { readonly type: 'warning'; readonly text: string; readonly hint?: string }
  /**
   * Errors in the files, keys that are lost, or services that do not start. Each is reported once,
   * as soon as it is known.
   */
  | {
      readonly type: 'diagnostics'
      readonly diagnostics: readonly Diagnostic[]
      /** The warnings among them that the last deploy of the environment has reported. */
      readonly seen?: ReadonlySet<Diagnostic>
    }
  /** A deploy ends before it is done: its promise rejects, or its outcome has `ended`. What state the services are in. */
  | {
      readonly type: 'stopped'
      readonly environment: string
      readonly namespace: string
      /** True if any of it is in the cluster, or was sent to it. */
      readonly isBegun: boolean
      readonly waits: boolean
      readonly services: ReadonlyMap<string, ServiceState>
    }
  /** A destroy ends before it is done: its promise rejects. How many objects are deleted, of how many. */
  | {
      readonly type: 'destroy-stopped'
      readonly environment: string
      readonly namespace: string
      readonly named?: readonly string[]
      readonly deleted: number
      readonly planned: number
    }
  /** A Secret that nothing publishes was created in the cluster, or got the keys that it lacked. */
  | {
      readonly type: 'secret'
      readonly name: string
      readonly namespace: string
      readonly action: 'created' | 'extended' | 'unchanged'
      /** Those that were added. */
      readonly keys: readonly string[]
    }
  /** An environment, or one that the manifest depends on, is destroyed. */
  | { readonly type: 'destroyed'; readonly outcome: DestroyOutcome }
  /** A repository that the manifest depends on was deployed, or was not. */
  | { readonly type: 'dependency'; readonly outcome: DeployOutcome }
