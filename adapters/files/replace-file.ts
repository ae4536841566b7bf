import type { Stats } from 'node:fs'
import { chmod, chown, lstat, rename, rm, stat, writeFile } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { realPath } from './real-path.ts'
import { temporaryPath } from './temporary-file.ts'

/**
 * Writes a file so that no reader sees an incomplete one: writes a temporary file beside it and renames it. Follows
 * links. An existing file keeps its mode, and its owner under sudo. Writes in place to a device or a pipe, such as
 * /dev/stdout, and to a file that cannot be replaced because it is a mount point, or because its folder belongs to
 * another user. Throws the error of node:fs.
 */
export async function replaceFile(file: string, text: string): Promise<void> {
  const path = realPath(file) ?? file
  const found = await stat(path).catch(() => undefined)
  if (found && !found.isFile()) return writeFile(path, text)
  try {
    await replace(path, text, found)
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException // node:fs throws nothing else
    if (!found || !IN_PLACE.has(code)) throw error
    await writeFile(path, text)
  }
}

/**
 * Throws a UserError if an output file that the user names exists but is not a regular file: writing to a link would
 * change another file, and writing to a pipe may block. `shown` is the name as the user wrote it; `what` is the content
 * to be written, such as `the report`.
 */
export async function requireRegular(path: string, shown: string, what: string): Promise<void> {
  const kind = await irregularKind(path)
  if (kind === undefined) return
  throw new UserError(`\`${shown}\` is ${kind}, and ${what} is not written to it`, {
    hint: 'name a new file, or a regular one to replace',
  })
}

/**
 * Returns the kind of a file that is not a regular one, for messages: `a symbolic link`. Undefined for a regular file
 * and for one that does not exist. Does not follow links.
 */
async function irregularKind(path: string): Promise<string | undefined> {
  const found = await lstat(path).catch(() => undefined)
  if (!found || found.isFile()) return undefined
  if (found.isSymbolicLink()) return 'a symbolic link'
  if (found.isDirectory()) return 'a folder'
  return found.isFIFO() ? 'a pipe' : found.isSocket() ? 'a socket' : 'a device'
}

const IN_PLACE = new Set(['EACCES', 'EBUSY', 'EPERM'])

async function replace(path: string, text: string, old: Stats | undefined): Promise<void> {
  const temporary = await temporaryPath(dirname(path), basename(path))
  try {
    await writeFile(temporary, text, { flag: 'wx', mode: old ? 0o600 : 0o666 })
    if (old && process.getuid?.() === 0) await chown(temporary, old.uid, old.gid)
    // The mode of a new file is reduced by the umask.
    if (old) await chmod(temporary, old.mode & 0o777)
    await rename(temporary, path)
  } finally {
    await rm(temporary, { force: true })
  }
}
