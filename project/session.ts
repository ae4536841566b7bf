import type { Cluster } from '../adapters/kubernetes/cluster.ts'
import type { KubeconfigAccess } from '../adapters/kubernetes/connection.ts'
import type { Holder } from '../environment/apply/held-lease.ts'
import type { Clock } from '../environment/clock.ts'
import type { Target } from './contexts/target.ts'
import type { CommonEvent } from './events.ts'
import type { Questions } from './questions.ts'
import type { Workspace } from './workspace.ts'

/** Access of the user to a namespace of a cluster. */
export interface Session {
  readonly cluster: Cluster
  /** Connection details, for callers that open their own connection. */
  readonly access: KubeconfigAccess
  readonly namespace: string
  /** Selected context and namespace, and the settings that selected them. */
  readonly target: Target
  /** Aborted at the deadline, and when the caller cancels. */
  readonly signal: AbortSignal
  /** Time of the deadline, in milliseconds since 1970; absent if there is no deadline. */
  readonly deadline?: number
  readonly clock: Clock
  readonly holder: Holder
}

/**
 * Context of an operation that needs no cluster. `Event` is the type of the events that only this operation emits, in
 * addition to the common ones.
 */
export interface LocalContext<Event = never> {
  readonly workspace: Workspace
  /** Aborted at the deadline, and when the caller cancels. */
  readonly signal: AbortSignal
  /** Receives progress events. */
  readonly on: (event: CommonEvent | Event) => void
}

/**
 * Context of an operation that needs a cluster. `Event` is the type of the events that only this operation emits, in
 * addition to the common ones.
 */
export interface OperationContext<Event = never> {
  readonly workspace: Workspace
  readonly session: Session
  /** Receives progress events. */
  readonly on: (event: CommonEvent | Event) => void
  /** Questions to the user. If absent, or if a question is absent, the user cannot be asked. */
  readonly ask?: Questions
}
