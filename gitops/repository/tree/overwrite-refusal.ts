import { plural } from '../../../compiler/diagnostics/render/summary.ts'
import { UserError } from '../../../compiler/diagnostics/user-error.ts'

/** A file in a folder of ours that does not hold what devctl wrote. */
export interface ConflictingFile {
  /** Path in the folder, with `/`. */
  readonly path: string
  readonly there: string
  /** The content that devctl would write; absent where it would remove the file. */
  readonly wanted?: string
  /** True if devctl wrote the file and it was edited since; false for a file that devctl did not write. */
  readonly isOurs: boolean
}

/** Thrown when files that others have written or edited are in the way. */
export class OverwriteRefusal extends UserError {
  /** The folder, as messages name it. */
  readonly folder: string
  readonly edits: readonly ConflictingFile[]

  /** `blocked` are links and folders in the way, in words: nothing ever replaces those. */
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
