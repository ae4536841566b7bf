import { UserError } from '../../../compiler/diagnostics/user-error.ts'
import { look } from './change.ts'

/**
 * Throws a UserError if the folder at `path` below the output folder, or a folder between the two, is a symbolic link
 * or a file. The files could not be written there, or would be written outside the output folder. The output folder
 * itself may be a link; `shown` is its name for the error.
 */
export function refuseLinkedFolders(root: string, shown: string, path: string): void {
  if (path === '.') return
  const found = look(root, path)
  // A folder at the end of the path is the one to write.
  if (found.kind === 'missing' || (found.kind === 'blocked' && found.what === 'a folder')) return
  const [at, what] = found.kind === 'file' ? [path, 'a file'] : [found.at, found.what]
  throw new UserError(`\`${shown}/${at}\` is ${what}, and nothing is written to it`, {
    hint: 'move it away, or name another folder with `--output-dir`',
  })
}
