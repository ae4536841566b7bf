import type { SyncConflict } from '../../sync/conflicts.ts'
import type { SyncProblem } from '../../sync/problems.ts'
import type { SyncStatus } from '../../sync/sync.ts'

/** What happens in the session of a development container. */
export type DevelopEvent =
  /** At most ten a second while files are on their way. */
  | { readonly type: 'sync'; readonly status: SyncStatus; readonly folders: readonly SyncedPair[] }
  | ({ readonly type: 'sync-problem' } & SyncProblem)
  | ({ readonly type: 'sync-conflict' } & SyncConflict)
  /** All files of a folder are gone on one side. Nothing is deleted on the other. */
  | { readonly type: 'sync-stopped'; readonly folder: SyncedPair; readonly side: 'local' | 'remote' }
  | {
      readonly type: 'forwards'
      readonly forwards: readonly { readonly local: string; readonly remote: string }[]
      readonly reverse: readonly { readonly remote: string; readonly local: string }[]
    }

/** A folder of this machine as the manifest writes it, and that of the container. */
export interface SyncedPair {
  readonly local: string
  readonly remote: string
}
