import type { LostFiles } from '../../sync/session/folder-state.ts'
import type { SyncStatus } from '../../sync/session/sync-status.ts'

const SESSION_STATES = [
  'planning',
  'deploying',
  'starting',
  'connecting',
  'syncing',
  'ready',
  'reconnecting',
  'contested',
  'stopped',
] as const

export type SessionState = (typeof SESSION_STATES)[number]

/** The state of a running session, for the commands that ask it. */
export interface SessionReport {
  readonly dev: string
  readonly namespace: string
  readonly context: string
  /** The manifest's folder: `exec`, `status` and others are for the session of their folder. */
  readonly folder: string
  readonly state: SessionState
  /** What the state is about: why it reconnects, what it pulls. */
  readonly text: string
  readonly pod?: string
  readonly container?: string
  readonly since: number
  readonly process: number
  readonly sync?: SyncStatus
  /** The ports of this machine, and what they lead to. */
  readonly forwards?: readonly { readonly local: string; readonly remote: string }[]
  /** The folders that have lost all files on one side, and wait for an answer. */
  readonly emptied?: readonly EmptiedFolder[]
  /** The status pages of both ends. */
  readonly pages?: StatusPages
}

/** A folder that has lost all files on one side. */
export interface EmptiedFolder {
  /** As the manifest writes it. */
  readonly local: string
  /** Absolute, in the container. */
  readonly remote: string
  /** Where the files are gone. */
  readonly side: 'local' | 'remote'
  /** How many; absent: all. */
  readonly loss?: LostFiles
}

/** Where the two ends of the synchronization show their state, on this machine alone. */
export interface StatusPages {
  readonly local: string
  readonly remote: string
  readonly user: string
  readonly password: string
}

/** What a command asks a session; one JSON object a line, answered by one. */
export type ControlRequest =
  | { readonly ask: 'report' | 'stop' | 'restart' }
  /** What becomes of the emptied folders; the answer is a report that names them. */
  | { readonly ask: 'answer'; readonly meaning: 'delete' | 'restore' }

export type ControlAnswer =
  | { readonly ok: true; readonly report?: SessionReport }
  | { readonly ok: false; readonly message: string; readonly hint?: string }
