/** How far the synchronization is, as `status` prints it. */
export interface SyncReport {
  /** 0 to 100; 100 only if both sides agree on everything. */
  readonly percent: number
  readonly filesLeft: number
  readonly bytesLeft: number
  readonly problems: readonly { readonly path: string; readonly reason: string }[]
  readonly conflicts: readonly { readonly path: string; readonly kept: string }[]
  readonly unwatched: readonly string[]
}

export const SESSION_STATES = [
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
  readonly sync?: SyncReport
}

/** What a command asks a session; one JSON object a line, answered by one. */
export type ControlRequest = { readonly ask: 'report' } | { readonly ask: 'stop' } | { readonly ask: 'restart' }

export type ControlAnswer =
  | { readonly ok: true; readonly report?: SessionReport }
  | { readonly ok: false; readonly message: string; readonly hint?: string }
