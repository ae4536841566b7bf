import type { DeployEvent } from '../operations/deploy/events.ts'
import type { CommonEvent } from '../project/events.ts'
import type { SyncConflict } from '../sync/session/conflicts.ts'
import type { LostFiles } from '../sync/session/folder-state.ts'
import type { FullDisk } from '../sync/session/full-disks.ts'
import type { SyncStatus } from '../sync/session/sync-status.ts'
import type { SyncProblem } from '../sync/stage/problems.ts'

/** Event in the session of a development container. */
export type DevelopEvent =
  /** The workload is taken: `deployment/api 3 → 0 replicas, mirror deployment/api-dev`. */
  | { readonly type: 'taken'; readonly dev: string; readonly text: string }
  /** Sent at most ten times per second while files are being transferred. */
  | { readonly type: 'sync'; readonly status: SyncStatus; readonly folders: readonly SyncedPair[] }
  | ({ readonly type: 'sync-problem' } & SyncProblem)
  | ({ readonly type: 'sync-conflict' } & SyncConflict)
  /** A large file that the container has made begins to come here. */
  | { readonly type: 'sync-large'; readonly path: string; readonly size: number }
  /** The container has written a file that says what tools run on this machine. `path` is absolute. */
  | { readonly type: 'sync-tool-file'; readonly path: string; readonly shown: string }
  /** The container has deleted many files, which were moved from a folder of this machine to another one. */
  | { readonly type: 'sync-deleted'; readonly folder: SyncedPair; readonly files: number; readonly kept: string }
  /**
   * All files of a folder, or as many as `loss` states, are missing on one side. Nothing is deleted on the other side
   * before `answerEmptied`.
   */
  | {
      readonly type: 'sync-stopped'
      readonly dev: string
      readonly folder: SyncedPair
      readonly side: 'local' | 'remote'
      readonly loss?: LostFiles
    }
  /** The files are back, or the user has answered. */
  | { readonly type: 'sync-continued'; readonly dev: string; readonly folder: SyncedPair }
  /** The disk of one side has no room for some files; they follow by themselves. */
  | ({ readonly type: 'sync-full'; readonly folder: SyncedPair } & Omit<FullDisk, 'folder'>)
  /** There was room for all of them. */
  | { readonly type: 'sync-room'; readonly folder: SyncedPair; readonly side: 'local' | 'remote' }
  | {
      readonly type: 'forwards'
      readonly forwards: readonly { readonly local: string; readonly remote: string }[]
      readonly reverse: readonly { readonly remote: string; readonly local: string }[]
    }
  /** SSH clients get into the container by a command of theirs. */
  | { readonly type: 'ssh'; readonly host: string; readonly command: string }
  /** A session has ended; the other sessions continue. */
  | { readonly type: 'session-ended'; readonly dev: string; readonly end: SessionEnd }

/** All events of `devctl up`: of its sessions, and of the deploys that it starts. */
export type UpEvent = CommonEvent | DeployEvent | DevelopEvent

/** Outcome of one of several sessions. */
export type SessionEnd =
  /** Its command, on this machine. */
  | { readonly kind: 'ended'; readonly status: number }
  /** `down` was called for it, or another session has taken it over. */
  | { readonly kind: 'stopped'; readonly reason: string }
  | { readonly kind: 'failed'; readonly error: Error }

/** A folder of this machine as the manifest writes it, and that of the container. */
export interface SyncedPair {
  readonly local: string
  readonly remote: string
}
