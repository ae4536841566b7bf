import { LOCK_NAME, recordedFiles } from '../../project/lock.ts'
import { type FolderChange, isSame } from '../repository/publication.ts'

/** A file whose content or existence is not as expected. */
export interface DifferingFile {
  /** Path from the root of the repository. */
  readonly path: string
  readonly why:
    | 'edited-by-hand'
    /** The file was not written by devctl. */
    | 'foreign'
    | 'out-of-date'
    | 'missing'
    | 'removed-by-hand'
    /** The file should no longer exist. */
    | 'left-over'
}

/** Returns the files of a folder that are not as expected, with the reasons. */
export function differingFiles(folder: FolderChange): readonly DifferingFile[] {
  const {
    path,
    change: { writes, removals, edits, before: lock },
    before,
  } = folder
  const edited = new Map(edits.map(edit => [edit.path, edit]))
  const differing = (file: string, otherwise: DifferingFile['why']): DifferingFile => {
    const edit = edited.get(file)
    const why = edit === undefined ? otherwise : edit.isOurs ? 'edited-by-hand' : 'foreign'
    return { path: path === '.' ? file : `${path}/${file}`, why }
  }
  const missing = (file: string) => (lock && recordedFiles(lock).has(file) ? 'removed-by-hand' : 'missing')
  const isLockOnly = writes.size + removals.length === 0 && !isSame(folder)
  return [
    ...(isLockOnly ? [differing(LOCK_NAME, lock ? 'out-of-date' : 'missing')] : []),
    ...[...writes.keys()].map(file => differing(file, before.has(file) ? 'out-of-date' : missing(file))),
    ...removals.map(file => differing(file, 'left-over')),
  ]
}
