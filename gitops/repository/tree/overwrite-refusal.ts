import { plural } from '../../../compiler/diagnostics/render/summary.ts'
import { UserError } from '../../../compiler/diagnostics/user-error.ts'

/** A file in one of our folders that does not have the content that devctl wrote. */
export interface ConflictingFile {
  /** Path in the folder, with `/`. */
  readonly path: string
  readonly there: string
  /** Content that devctl would write; absent if devctl would remove the file. */
  readonly wanted?: string
  /**
   * True if devctl wrote the file and the file has been edited since then; false for a file that devctl did not write.
   */
  readonly isOurs: boolean
}

/** Thrown if files that devctl did not write, or that were edited, would be overwritten. */
export class OverwriteRefusal extends UserError {
  /** Path of the folder, as shown in messages. */
  readonly folder: string
  readonly edits: readonly ConflictingFile[]

  /**
   * `blocked` describes, as text, the links and folders that are at the paths of the files to write. Devctl never
   * replaces them.
   */
  constructor(folder: string, blocked: readonly string[], edits: readonly ConflictingFile[]) {
    const told = edits.map(({ path, isOurs }) =>
      isOurs ? `\`${path}\` was edited by hand since devctl wrote it` : `\`${path}\` is not devctl's`,
    )
    const notes = [...blocked, ...told]
    const what = notes.length === edits.filter(({ isOurs }) => isOurs).length ? 'edited file' : 'file'
    super(`${plural(notes.length, what)} in \`${folder}\` would be lost; nothing was written`, {
      notes: [...notes.slice(0, 10), ...(notes.length > 10 ? [`and ${notes.length - 10} more`] : [])],
      hint:
        blocked.length > 0
          ? 'move them away; `--take-over` replaces files, but no links or folders'
          : 'make the change in the Compose files, or move the file away; `--take-over` replaces it',
    })
    this.folder = folder
    this.edits = edits
  }
}
