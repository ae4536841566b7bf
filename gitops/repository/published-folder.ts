import type { FolderOutput } from './tree/change.ts'

export interface PublishedFolder {
  /** From the root of the repository, with `/`; `.` is the root. */
  readonly path: string
  readonly output: FolderOutput
}
