import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isAlive, thisProcess } from './process-identity.ts'
import { isStalePushLock, PUSH_LOCK_PREFIX } from './push-lock.ts'

const PREFIX = 'devctl-publish-'
const OWNER = 'owner'
const WORK = 'work'
/** Milliseconds after which a folder that says nothing of its process is nobody's any more. */
const OLD = 10_000

/** A private folder. */
export interface Temporary {
  readonly folder: string
  /** Removes it; may be called again. */
  remove(): Promise<void>
}

/**
 * Does work with a private folder in TMPDIR, which is gone afterwards, whatever happens; also
 * removes those that killed runs have left.
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

/** The same for who removes the folder. */
export function openTemporary(env: Readonly<Record<string, string | undefined>>): Temporary {
  const base = env.TMPDIR || tmpdir()
  removeLeftovers(base)
  // Node makes it for this user alone (0700).
  const outer = mkdtempSync(join(base, PREFIX))
  writeFileSync(join(outer, OWNER), thisProcess())
  const folder = join(outer, WORK)
  mkdirSync(folder)
  // A git process that was just ended may still write its last file.
  const remove = () => rm(outer, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 })
  return { folder, remove }
}

/**
 * Removes the folders whose process is gone, and their turns. What cannot be looked at or removed
 * is somebody else's.
 */
function removeLeftovers(base: string): void {
  for (const name of readdirSync(base)) {
    const path = join(base, name)
    try {
      if (name.startsWith(PREFIX) ? isLeft(path) : name.startsWith(PUSH_LOCK_PREFIX) && isStalePushLock(path)) {
        // The owner's name last: where a git that lost its devctl still writes, the next run knows
        // that nobody owns the folder.
        rmSync(join(path, WORK), { recursive: true, force: true })
        rmSync(path, { recursive: true, force: true })
      }
    } catch {
      // Of another user, or gone meanwhile.
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
