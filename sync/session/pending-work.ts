import type { TreeNode } from '../core/tree-node.ts'
import { isFull } from '../stage/problems.ts'
import type { FolderState } from './folder-state.ts'

/** Counts the files on which the sides do not agree yet, and their bytes. */
export function pendingWork({ queue, busy, deferred, problems }: FolderState): {
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
