import type { DeployEvent } from '../operations/deploy/events.ts'
import type { CommonEvent } from '../project/events.ts'
import type { SyncConflict } from '../sync/session/conflicts.ts'
import type { LostFiles } from '../sync/session/folder-state.ts'
import type { FullDisk } from '../sync/session/full-disks.ts'
import type { SyncStatus } from '../sync/session/sync-status.ts'
import type { SyncProblem } from '../sync/stage/problems.ts'

/** An event in the session of a development container. */
export type DevelopEvent =
  /** The workload has been replaced by its mirror: `deployment/api 3 → 0 replicas, mirror deployment/api-dev`. */
  | { readonly type: 'taken'; readonly dev: string; readonly text: string }
  /** Sent at most ten times per second while files are being transferred. */
  | { readonly type: 'sync'; readonly status: SyncStatus; readonly folders: readonly SyncedPair[] }
  | ({ readonly type: 'sync-problem' } & SyncProblem)
  | ({ readonly type: 'sync-conflict' } & SyncConflict)
  /** The transfer of a large file from the container to this machine begins. */
  | { readonly type: 'sync-large'; readonly path: string; readonly size: number }
  /** The container has written a file that configures tools on this machine. `path` is absolute. */
  | { readonly type: 'sync-tool-file'; readonly path: string; readonly shown: string }
  /**
   * The container has deleted many files. On this machine, they were moved out of the synchronized folder to `kept`.
   */
  | { readonly type: 'sync-deleted'; readonly folder: SyncedPair; readonly files: number; readonly kept: string }
  /**
   * All files of a folder, or the number in `loss`, are missing on one side. Nothing is deleted on the other side
   * before `answerEmptied` is called.
   */
  | {
      readonly type: 'sync-stopped'
      readonly dev: string
      readonly folder: SyncedPair
      readonly side: 'local' | 'remote'
      readonly loss?: LostFiles
    }
  /** The synchronization of a folder has continued, because the files have been restored or the user has answered. */
  | { readonly type: 'sync-continued'; readonly dev: string; readonly folder: SyncedPair }
  /** The disk of one side has no space for some files. They are transferred automatically once there is space. */
  | ({ readonly type: 'sync-full'; readonly folder: SyncedPair } & Omit<FullDisk, 'folder'>)
  /** The disk of one side has space for all files again. */
  | { readonly type: 'sync-room'; readonly folder: SyncedPair; readonly side: 'local' | 'remote' }
  | {
      readonly type: 'forwards'
      readonly forwards: readonly { readonly local: string; readonly remote: string }[]
      readonly reverse: readonly { readonly remote: string; readonly local: string }[]
    }
  /** SSH clients connect to the container by running a command. */
  | { readonly type: 'ssh'; readonly host: string; readonly command: string }
  /** A session has ended; the other sessions continue. */
  | { readonly type: 'session-ended'; readonly dev: string; readonly end: SessionEnd }

/** All events of `devctl up`: events of its sessions, and of the deploys that it starts. */
export type UpEvent = CommonEvent | DeployEvent | DevelopEvent

/** Outcome of one of several sessions. */
export type SessionEnd =
  /** The command of the session on this machine has ended, with this exit status. */
  | { readonly kind: 'ended'; readonly status: number }
  /** `down` has ended the session, or another session has taken it over. */
  | { readonly kind: 'stopped'; readonly reason: string }
  | { readonly kind: 'failed'; readonly error: Error }

/** Path of a folder of this machine as written in the manifest, and path of the matching folder in the container. */
export interface SyncedPair {
  readonly local: string
  readonly remote: string
}
