import type { FolderChange } from '../repository/publication.ts'

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
export function differingFiles({
  path,
  change: { writes, removals, edits, before: lock },
  before,
}: FolderChange): readonly DifferingFile[] {
  const edited = new Map(edits.map(edit => [edit.path, edit]))
  const differing = (file: string, otherwise: DifferingFile['why']): DifferingFile => {
    const edit = edited.get(file)
    const why = edit === undefined ? otherwise : edit.isOurs ? 'edited-by-hand' : 'foreign'
    return { path: path === '.' ? file : `${path}/${file}`, why }
  }
  const missing = (file: string) => (lock?.files.has(file) ? 'removed-by-hand' : 'missing')
  return [
    ...[...writes.keys()].map(file => differing(file, before.has(file) ? 'out-of-date' : missing(file))),
    ...removals.map(file => differing(file, 'left-over')),
  ]
}
