import { placeIn } from '../core/paths.ts'
import type { SkippedPathList } from '../core/skipped-paths.ts'
import type { TreeNode } from '../core/tree-node.ts'
import { isFull, type SyncProblem } from '../stage/problems.ts'
import type { SyncConflict } from './conflicts.ts'
import type { FolderState } from './folder-state.ts'
import type { FolderSync } from './folder-sync.ts'

export interface SyncStatus {
  readonly state: 'disconnected' | 'scanning' | 'syncing' | 'synced' | 'stopped'
  /** Percentage, rounded down: 100 only if nothing is left in either direction. */
  readonly percent: number
  /** Number of files that both sides have. */
  readonly files: number
  readonly bytes: number
  readonly filesLeft: number
  readonly bytesLeft: number
  /** Bytes sent over all connections of this session. */
  readonly sentBytes: number
  /** Large file that is being transferred, with its size and the number of bytes that are done. */
  readonly current?: { readonly path: string; readonly size: number; readonly done: number }
  readonly problems: readonly SyncProblem[]
  /** Conflicts of this session. */
  readonly conflicts: readonly SyncConflict[]
  /** Folders that the system does not watch, and that are scanned every few seconds instead. */
  readonly unwatched: readonly string[]
  /**
   * Paths on either side that cannot be synchronized: names that are not UTF-8, sockets, the container's own `.git`.
   */
  readonly leftOut: SkippedPathList
}

/** Values of a status that only the session knows. */
interface SessionFacts extends Pick<SyncStatus, 'sentBytes' | 'conflicts'> {
  readonly isConnected: boolean
  /** True if the agent has reported the contents of the container over this connection. */
  readonly isStarted: boolean
}

/** Maximum number of skipped paths in a status, over all folders. */
const LEFT_OUT = 20

export function toStatus(folders: readonly FolderSync[], session: SessionFacts): SyncStatus {
  const sum = (value: (folder: FolderSync) => number) => folders.reduce((all, one) => all + value(one), 0)
  const files = sum(({ state }) => state.agreedFiles)
  const bytes = sum(({ state }) => state.agreedBytes)
  const left = folders.map(({ state }) => pendingWork(state))
  const filesLeft = left.reduce((all, one) => all + one.files, 0)
  const bytesLeft = left.reduce((all, one) => all + one.bytes, 0)
  const current = folders.map(folder => folder.current).find(one => one !== undefined)
  const done = bytes + (current?.done ?? 0)
  const all = bytes + bytesLeft
  const isDone = filesLeft === 0 && session.isStarted && folders.every(folder => folder.isIdle)
  const leftOut = folders.map(folder => folder.leftOut())
  return {
    state: stateOf(folders, session),
    percent: isDone ? 100 : Math.min(99, all === 0 ? 0 : Math.floor((100 * done) / all)),
    files,
    bytes,
    filesLeft,
    bytesLeft: Math.max(0, bytesLeft - (current?.done ?? 0)),
    sentBytes: session.sentBytes,
    ...(current && { current: { ...current } }),
    problems: folders.flatMap(({ problems }) => problems),
    conflicts: [...session.conflicts],
    unwatched: folders.flatMap(({ root, state }) => [
      ...[...state.live.watchers.unwatched].map(folder => placeIn(root, folder)),
      ...state.unwatchedRemote.map(folder => `${folder || '.'} in the container`),
    ]),
    leftOut: {
      count: leftOut.reduce((all, { count }) => all + count, 0),
      paths: leftOut.flatMap(({ paths }) => paths).slice(0, LEFT_OUT),
    },
  }
}

/** Counts the files on which the sides do not agree yet, and their bytes. A file counts with its larger version. */
function pendingWork({ queue, busy, deferred, problems }: FolderState): {
  readonly files: number
  readonly bytes: number
} {
  let files = 0
  let bytes = 0
  const count = ({ local, remote }: TreeNode) => {
    if (local?.kind !== 'file' && remote?.kind !== 'file') return
    files++
    bytes += Math.max(local?.size ?? 0, remote?.size ?? 0)
  }
  for (const node of queue) count(node)
  for (const node of busy.keys()) count(node)
  for (const node of deferred) if (!queue.has(node) && !busy.has(node)) count(node)
  // Files that do not fit on the disk are synchronized as soon as there is space.
  for (const [node, { message }] of problems)
    if (isFull(message) && !queue.has(node) && !busy.has(node) && !deferred.has(node)) count(node)
  return { files, bytes }
}

function stateOf(folders: readonly FolderSync[], { isConnected, isStarted }: SessionFacts): SyncStatus['state'] {
  if (folders.some(({ stopped }) => stopped)) return 'stopped'
  if (!isConnected) return 'disconnected'
  if (!isStarted || !folders.every(({ state }) => state.isScanned)) return 'scanning'
  return folders.every(folder => folder.isIdle) ? 'synced' : 'syncing'
}
