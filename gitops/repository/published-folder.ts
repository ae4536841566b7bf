import type { FolderOutput } from './tree/change.ts'

export interface PublishedFolder {
  /** Path from the root of the repository, with `/`; `.` is the root. */
  readonly path: string
  readonly output: FolderOutput
}
