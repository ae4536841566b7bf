import { join } from 'node:path'
import { LOCK_NAME, type Lock } from '../../../project/lock.ts'
import { look, readLock } from './change.ts'

/** Current content of a repository; links are not followed. */
export interface RepositoryReader {
  /** The lock of a folder; undefined where it has none. Throws a UserError for a damaged one. */
  lock(path: string): Lock | undefined
  /**
   * The text of a file of one of the target's folders, of a lock, or of rules for SOPS; undefined
   * where there is none.
   */
  read(path: string): string | undefined
}

/**
 * The repository, or what stands for it, in a folder (absolute). Paths have `/`; `.` is the folder.
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

/** The path of a folder's lock. */
export const lockPath = (path: string): string => (path === '.' ? LOCK_NAME : `${path}/${LOCK_NAME}`)
