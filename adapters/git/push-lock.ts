import { createHash } from 'node:crypto'
import { lstatSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isAlive, thisProcess } from './process-identity.ts'

export const PUSH_LOCK_PREFIX = 'devctl-turn-'

/** Polling interval in milliseconds; a random pause of up to the same length is added. */
const LOOK = 25
/**
 * Maximum time to wait for one owner of the lock, in milliseconds. An owner that takes longer has a slow server; all
 * waiting processes then continue without the lock.
 */
const LOCK_TIMEOUT = 15_000
/**
 * Age in milliseconds after which an empty lock file counts as left behind: its process ended after creating the file
 * and before writing the owner into it.
 */
const UNSAID = 5000

/** The lock of a branch on this machine. */
export interface PushLock {
  end(): void
  /** True if another process held the lock first. That process may have pushed in the meantime. */
  readonly hasWaited: boolean
}

/**
 * Waits until no other devctl on this machine pushes to the same branch: if several push at the same time, all but one
 * do their work in vain. The lock only saves work, because the push itself decides which process wins. Stops waiting
 * for an owner that has ended or is slow, and does not wait if the folder is not writable. Throws the signal's abort
 * reason.
 */
export async function takePushLock(
  env: Readonly<Record<string, string | undefined>>,
  branch: string,
  signal: AbortSignal,
  retries = LOCK_TIMEOUT,
): Promise<PushLock> {
  const name = createHash('sha256').update(`${process.getuid?.()} ${branch}`).digest('hex').slice(0, 16)
  const file = join(env.TMPDIR || tmpdir(), `${PUSH_LOCK_PREFIX}${name}`)
  const own = `${thisProcess()}${Math.random()}\n`
  let owner: string | undefined
  for (let since = Date.now(); ; ) {
    const took = take(file, own)
    if (took === 'mine') return { end: () => giveBack(file, own), hasWaited: owner !== undefined }
    const found = took === 'held' ? look(file) : took
    if (found === 'impossible') return { end: () => {}, hasWaited: false }
    if (found === 'left') rmSync(file, { force: true })
    if (found === 'left' || found === undefined) continue
    if (found.owner !== owner) since = Date.now()
    owner = found.owner
    if (Date.now() - since > retries) return { end: () => {}, hasWaited: true }
    await sleep(LOOK * (1 + Math.random()), undefined, { signal }).catch(() => signal.throwIfAborted())
  }
}

/** Returns true if the owner of a lock has ended. */
export const isStalePushLock = (file: string) => look(file) === 'left'

/**
 * Returns the owner of the lock; `left` if the owner has ended; `impossible` if the file cannot be a lock of this user;
 * undefined if nobody holds the lock.
 */
function look(file: string): { readonly owner: string } | 'left' | 'impossible' | undefined {
  try {
    const found = lstatSync(file)
    if (!found.isFile() || found.uid !== (process.getuid?.() ?? found.uid)) return 'impossible'
    const owner = readFileSync(file, 'utf8')
    const isLeft = owner === '' ? Date.now() - found.mtimeMs > UNSAID : !isAlive(owner.split('\n', 1)[0]!)
    return isLeft ? 'left' : { owner }
  } catch (error) {
    return codeOf(error) === 'ENOENT' ? undefined : 'impossible'
  }
}

function take(file: string, own: string): 'mine' | 'held' | 'impossible' {
  try {
    writeFileSync(file, own, { flag: 'wx', mode: 0o600 })
    return 'mine'
  } catch (error) {
    return codeOf(error) === 'EEXIST' ? 'held' : 'impossible'
  }
}

function giveBack(file: string, own: string): void {
  const found = look(file)
  // Another process may have taken over the lock because this process seemed to have ended.
  if (typeof found === 'object' && found.owner === own) rmSync(file, { force: true })
}

const codeOf = (error: unknown) => (error as NodeJS.ErrnoException).code // node:fs throws nothing else
