import { plural } from '../../compiler/diagnostics/render/summary.ts'
import type { FolderChange } from '../repository/publication.ts'

/** Numbers of changed, added and removed files of a folder. */
export interface FolderCounts {
  /** Path from the root of the repository; for an artifact, its reference. */
  readonly path: string
  readonly changed: number
  readonly added: number
  readonly removed: number
}

export const countsOf = ({ path, change: { writes, removals }, added }: FolderChange): FolderCounts => ({
  path,
  changed: writes.size - added,
  added,
  removed: removals.length,
})

/** Returns text such as `2 files changed, 1 added`; empty if nothing changed. */
export function fileWords({ changed, added, removed }: Omit<FolderCounts, 'path'>): string {
  const words = Object.entries({ changed, added, removed }).flatMap(([word, count]) =>
    count > 0 ? [`${count} ${word}`] : [],
  )
  return words.join(', ').replace(/^\d+/, number => plural(Number(number), 'file'))
}

/**
 * Returns the counts of all folders as text: `2 files changed, 1 removed`, or `no object changed` if the files are the
 * same.
 */
export function fileCounts(changes: readonly FolderChange[]): string {
  const folders = changes.map(countsOf)
  const sum = (key: 'changed' | 'added' | 'removed') => folders.reduce((total, one) => total + one[key], 0)
  const words = fileWords({ changed: sum('changed'), added: sum('added'), removed: sum('removed') })
  return words || 'no object changed'
}
