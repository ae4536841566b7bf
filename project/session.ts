import type { Cluster } from '../adapters/kubernetes/cluster.ts'
import type { KubeconfigAccess } from '../adapters/kubernetes/connection.ts'
import type { Holder } from '../environment/apply/held-lease.ts'
import type { Clock } from '../environment/clock.ts'
import type { Target } from './contexts/target.ts'
import type { CommonEvent } from './events.ts'
import type { Questions } from './questions.ts'
import type { Workspace } from './workspace.ts'

/** A cluster, and who works on it. */
export interface Session {
  readonly cluster: Cluster
  /** The way to it, for who has to talk to it otherwise. */
  readonly access: KubeconfigAccess
  readonly namespace: string
  /** Selected context and namespace, and the settings that selected them. */
  readonly target: Target
  /** Aborted at the deadline, and when the caller gives up. */
  readonly signal: AbortSignal
  /** The time of the deadline, in milliseconds since 1970, where there is one. */
  readonly deadline?: number
  readonly clock: Clock
  readonly holder: Holder
}

/**
 * The surroundings of an operation that needs no cluster, besides its input; `Event` is what it reports besides the
 * common events.
 */
export interface LocalContext<Event = never> {
  readonly workspace: Workspace
  /** Aborted at the deadline, and when the caller gives up. */
  readonly signal: AbortSignal
  /** Receives progress events. */
  readonly on: (event: CommonEvent | Event) => void
}

/** The surroundings of an operation, besides its input; `Event` is what it reports besides the common events. */
export interface OperationContext<Event = never> {
  readonly workspace: Workspace
  readonly session: Session
  /** Receives progress events. */
  readonly on: (event: CommonEvent | Event) => void
  /** Questions to the user; absent, or without one of them, if the user cannot be asked. */
  readonly ask?: Questions
}
