import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeTemporaryFolder } from '../files/temporary-folder.ts'
import { isAlive, thisProcess } from './process-identity.ts'
import { isStalePushLock, PUSH_LOCK_PREFIX } from './push-lock.ts'

const PREFIX = 'devctl-publish-'
const OWNER = 'owner'
const WORK = 'work'
/**
 * Age in milliseconds after which a temporary folder counts as left behind, if the folder does not record the process
 * that uses it.
 */
const OLD = 10_000

/** A temporary folder that only this user can access. */
export interface Temporary {
  readonly folder: string
  /** Removes the folder; may be called repeatedly. */
  remove(): Promise<void>
}

/**
 * Calls `work` with a private folder in TMPDIR, and always removes the folder afterwards; also removes the folders that
 * killed runs have left.
 */
export async function withTemporary<Result>(
  env: Readonly<Record<string, string | undefined>>,
  work: (folder: string) => Promise<Result>,
): Promise<Result> {
  const { folder, remove } = openTemporary(env)
  try {
    return await work(folder)
  } finally {
    await remove()
  }
}

/**
 * Creates a private folder in TMPDIR, which the caller removes; also removes the folders that killed runs have left.
 * Throws a UserError if TMPDIR is not a folder that the user may write to.
 */
export function openTemporary(env: Readonly<Record<string, string | undefined>>): Temporary {
  const base = env.TMPDIR || tmpdir()
  const outer = makeTemporaryFolder(PREFIX, base)
  removeLeftovers(base)
  writeFileSync(join(outer, OWNER), thisProcess())
  const folder = join(outer, WORK)
  mkdirSync(folder)
  // A git process that was just ended may still write its last file.
  const remove = () => rm(outer, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 })
  return { folder, remove }
}

/**
 * Removes the temporary folders of processes that have ended, and the push locks of such processes. Skips entries that
 * cannot be read or removed because they belong to another user.
 */
function removeLeftovers(base: string): void {
  for (const name of readdirSync(base)) {
    const path = join(base, name)
    try {
      if (name.startsWith(PREFIX) ? isLeft(path) : name.startsWith(PUSH_LOCK_PREFIX) && isStalePushLock(path)) {
        // The owner file is removed last: if an orphaned git process still writes, the next run sees that the folder's
        // owner has ended.
        rmSync(join(path, WORK), { recursive: true, force: true })
        rmSync(path, { recursive: true, force: true })
      }
    } catch {
      // The folder belongs to another user, or was deleted meanwhile.
    }
  }
}

function isLeft(folder: string): boolean {
  const found = statSync(folder)
  if (process.getuid && found.uid !== process.getuid()) return false
  let owner: string
  try {
    owner = readFileSync(join(folder, OWNER), 'utf8')
  } catch {
    return Date.now() - found.mtimeMs > OLD
  }
  return !isAlive(owner)
}
