import { join } from 'node:path'
import { LOCK_NAME, type Lock } from '../../../project/lock.ts'
import { look, readLock } from './change.ts'

/** Current content of a repository. Links are not followed. */
export interface RepositoryReader {
  /** Returns the lock of a folder; undefined if the folder has none. Throws a UserError for a damaged lock. */
  lock(path: string): Lock | undefined
  /**
   * Returns the text of a file in one of the target's folders, of a lock, or of SOPS rules; undefined if the file does
   * not exist.
   */
  read(path: string): string | undefined
}

/**
 * Returns a reader for the repository at an absolute path, or for an output folder that is written in place of a
 * repository. Paths passed to the reader use `/`; `.` is `root` itself.
 */
export function readerOf(root: string): RepositoryReader {
  const read = (path: string) => {
    const found = look(root, path)
    return found.kind === 'file' ? found.content : undefined
  }
  return {
    read,
    lock: path => (read(lockPath(path)) === undefined ? undefined : readLock(join(root, path), path)),
  }
}

/** Returns the path of a folder's lock. */
export const lockPath = (path: string): string => (path === '.' ? LOCK_NAME : `${path}/${LOCK_NAME}`)
