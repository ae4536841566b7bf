import { rename, rm, stat, writeFile } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { realPath } from './real-path.ts'
import { temporaryPath } from './temporary-file.ts'

/**
 * Writes a file so that nobody sees half of it: a temporary file beside it is renamed. Links are
 * followed, and a file that exists keeps its mode. A device or a pipe, such as /dev/stdout, is
 * written in place, and so is a file that cannot be replaced: one that is mounted, or in a folder
 * of others. Throws what node:fs throws.
 */
export async function replaceFile(file: string, text: string): Promise<void> {
  const path = realPath(file) ?? file
  const found = await stat(path).catch(() => undefined)
  if (found && !found.isFile()) return writeFile(path, text)
  try {
    await replace(path, text, found ? found.mode & 0o777 : 0o666)
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException // node:fs throws nothing else
    if (!found || !IN_PLACE.has(code)) throw error
    await writeFile(path, text)
  }
}

const IN_PLACE = new Set(['EACCES', 'EBUSY', 'EPERM'])

async function replace(path: string, text: string, mode: number): Promise<void> {
  const temporary = await temporaryPath(dirname(path), basename(path))
  try {
    await writeFile(temporary, text, { flag: 'wx', mode })
    await rename(temporary, path)
  } finally {
    await rm(temporary, { force: true })
  }
}
