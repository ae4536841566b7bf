import type { FolderChange } from '../repository/publication.ts'

/** A file that is not what it should be. */
export interface DifferingFile {
  /** Path from the root of the repository. */
  readonly path: string
  readonly why:
    | 'edited-by-hand'
    /** devctl has not written it. */
    | 'foreign'
    | 'out-of-date'
    | 'missing'
    | 'removed-by-hand'
    /** Left over: the file should no longer exist. */
    | 'left-over'
}

/** The files of a folder that are not what they should be, and why. */
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
