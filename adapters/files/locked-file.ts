import { randomUUID } from 'node:crypto'
import {
  closeSync,
  fchmodSync,
  fchownSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isSystemError } from '../../compiler/diagnostics/system-error.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'

/** Maximum time to wait for the lock while other commands write the same file, in milliseconds. */
const LOCK_TIMEOUT = 10_000
/**
 * Age in milliseconds after which a lock counts as left behind by a killed process; a write takes only a few
 * milliseconds.
 */
const STALE = 4_000

export interface FileEdit {
  /** Name of the file in error messages. */
  readonly shown: string
  /**
   * True to set the mode of an existing file to 0600; otherwise an existing file keeps its mode. A new file gets the
   * mode 0600 unless `isCommitted` is true.
   */
  readonly isPrivate: boolean
  /** True for a file of the project. A new file, and new folders for it, get the default permissions of the umask. */
  readonly isCommitted?: boolean
  /**
   * Returns the new text of the file; undefined leaves the file unchanged. `text` is the current text; undefined if the
   * file does not exist. Must be quick, because other processes wait for the lock. Called again if another process took
   * over the lock during the call.
   */
  readonly edit: (text: string | undefined) => string | undefined | Promise<string | undefined>
}

/**
 * Changes a text file so that concurrent changes by two processes are both kept, and no reader ever sees an incomplete
 * file: takes a lock file beside it (`<file>.lock`, like kubectl), writes a temporary file and renames it. Follows
 * links. Throws a UserError if the lock is not free within 10 seconds, or if the file cannot be written.
 */
export async function changeFile(file: string, change: FileEdit): Promise<void> {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: change.isCommitted ? 0o777 : 0o700 })
    const path = followLinks(file)
    const deadline = Date.now() + LOCK_TIMEOUT
    while (!(await changeOnce(path, change, deadline)));
  } catch (error) {
    if (error instanceof UserError || !isSystemError(error)) throw error
    throw new UserError(`cannot write \`${change.shown}\`: ${error.code}`, {
      hint: ['ENOSPC', 'EDQUOT'].includes(error.code ?? '')
        ? 'make room on its disk'
        : 'check the permissions of the file and of its folder',
      cause: error,
    })
  }
}

/**
 * Returns the text of a file; undefined if it does not exist. Throws the error of node:fs, or a UserError for a pipe or
 * device, which may never end.
 */
export function readText(path: string): string | undefined {
  try {
    const found = statSync(path, { throwIfNoEntry: false })
    if (found && !found.isFile() && !found.isDirectory() && path !== '/dev/null')
      throw new UserError(`\`${path}\` is not a regular file`, { hint: 'name another file' })
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (isSystemError(error) && (error.code === 'ENOENT' || error.code === 'ENOTDIR')) return undefined
    throw error
  }
}

/**
 * Makes one attempt to change the file. Returns false if another process took over the lock because this process was
 * suspended for too long and seemed dead. In this case, leaves the file unchanged, because the new text is based on an
 * old copy.
 */
async function changeOnce(path: string, change: FileEdit, deadline: number): Promise<boolean> {
  const lock = `${path}.lock`
  const owner = await takeLock(path, lock, change.shown, deadline)
  const isOurs = () => readText(lock) === owner
  const temporary = temporaryOf(path, owner)
  try {
    const before = readText(path)
    const after = await change.edit(before)
    if (after === undefined || after === before) return true
    writeTemporary(temporary, after, change, statSync(path, { throwIfNoEntry: false }))
    if (!isOurs()) return false
    renameSync(temporary, path)
    return true
  } finally {
    rmSync(temporary, { force: true })
    if (isOurs()) rmSync(lock, { force: true })
  }
}

/** Waits for the lock and returns the token that marks it as held by this process. */
async function takeLock(path: string, lock: string, shown: string, deadline: number): Promise<string> {
  const owner = randomUUID()
  for (;;) {
    try {
      writeFileSync(lock, owner, { flag: 'wx', mode: 0o600 })
      return owner
    } catch (error) {
      if (!isSystemError(error) || error.code !== 'EEXIST') throw error
    }
    if (Date.now() > deadline)
      throw new UserError(`\`${shown}\` is being changed by another program`, {
        hint: `try again; if nothing else runs, remove \`${lock}\``,
      })
    if (age(lock) > STALE) clearAway(path, lock)
    else await sleep(5 + Math.random() * 20)
  }
}

/** Returns the milliseconds since the lock was taken; 0 if it has just been released. */
function age(lock: string): number {
  const taken = statSync(lock, { throwIfNoEntry: false })?.mtimeMs
  return taken === undefined ? 0 : Date.now() - taken
}

/** Removes the lock of a killed process, and its temporary file, which may hold tokens. */
function clearAway(path: string, lock: string): void {
  const dead = readText(lock)
  if (dead !== undefined && /^[\w-]{36}$/.test(dead)) rmSync(temporaryOf(path, dead), { force: true })
  // Another process may have been faster, and may hold the lock by now.
  if (age(lock) > STALE) rmSync(lock, { force: true })
}

const temporaryOf = (path: string, owner: string): string => `${path}.${owner}.tmp`

function writeTemporary(
  temporary: string,
  text: string,
  { isPrivate, isCommitted }: FileEdit,
  old: Stats | undefined,
): void {
  const file = openSync(temporary, 'wx', isCommitted && !old ? 0o666 : 0o600)
  try {
    // The file keeps its owner under sudo.
    if (old !== undefined && process.getuid?.() === 0) fchownSync(file, old.uid, old.gid)
    if (old !== undefined && !isPrivate) fchmodSync(file, old.mode & 0o777)
    writeFileSync(file, text)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

/** Resolves a link to its target, because renaming over a link would replace the link. */
function followLinks(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}
