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
  /** Details of the state: the reason for reconnecting, the image that is pulled. */
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
  /** Path as written in the manifest. */
  readonly local: string
  /** Absolute, in the container. */
  readonly remote: string
  /** Side on which the files are missing. */
  readonly side: 'local' | 'remote'
  /** Number of missing files; absent if all are missing. */
  readonly loss?: LostFiles
}

/** Addresses and login of the status pages of both ends of the synchronization; only this machine can reach them. */
export interface StatusPages {
  readonly local: string
  readonly remote: string
  readonly user: string
  readonly password: string
}

/** Request from a command to a session: one JSON object per line, answered by one JSON object. */
export type ControlRequest =
  | { readonly ask: 'report' | 'stop' | 'restart' }
  /** Decides what happens to the emptied folders; the answer is a report that names them. */
  | { readonly ask: 'answer'; readonly meaning: 'delete' | 'restore' }

export type ControlAnswer =
  | { readonly ok: true; readonly report?: SessionReport }
  | { readonly ok: false; readonly message: string; readonly hint?: string }
