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

/** State of a running session, for the commands that request it. */
export interface SessionReport {
  readonly dev: string
  readonly namespace: string
  readonly context: string
  /**
   * Folder of the manifest, by which commands such as `exec` and `status` recognize the session of their own project.
   */
  readonly folder: string
  readonly state: SessionState
  /** Details of the state, such as the reason for reconnecting or the image that is being pulled. */
  readonly text: string
  readonly pod?: string
  readonly container?: string
  readonly since: number
  readonly process: number
  readonly sync?: SyncStatus
  /** Forwarded ports of this machine and their targets. */
  readonly forwards?: readonly { readonly local: string; readonly remote: string }[]
  /** Folders that have lost all or many of their files on one side and wait for an answer. */
  readonly emptied?: readonly EmptiedFolder[]
  /** Status pages of both ends of the synchronization. */
  readonly pages?: StatusPages
}

/** A folder that has lost all or many of its files on one side. */
export interface EmptiedFolder {
  /** Path as written in the manifest. */
  readonly local: string
  /** Absolute path in the container. */
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
  /** Decides what happens to the emptied folders. The answer to this request is a report that names the folders. */
  | { readonly ask: 'answer'; readonly meaning: 'delete' | 'restore' }

export type ControlAnswer =
  | { readonly ok: true; readonly report?: SessionReport }
  | { readonly ok: false; readonly message: string; readonly hint?: string }
