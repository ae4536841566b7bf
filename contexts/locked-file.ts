import { randomUUID } from 'node:crypto'
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { UserError } from '../compiler/diagnostics/user-error.ts'

/** Milliseconds that a command waits for others that write the same file. */
const PATIENCE = 10_000
/** Milliseconds after which a lock is one that a killed process left: writing takes a few. */
const STALE = 4_000

export interface Change {
  /** How errors name the file. */
  readonly shown: string
  /** The mode of a file that is new; one that is there keeps its own, unless `isPrivate`. */
  readonly isPrivate: boolean
  /** The new text from the present one, which is undefined where there is no file; undefined: leave it as it is. Must not wait. */
  readonly edit: (text: string | undefined) => string | undefined
}

/**
 * Changes a text file so that two processes that do it at once both have their way, and nobody ever sees half of it: under a lock file
 * beside it (`<file>.lock`, as kubectl has one), by a temporary file that is renamed. Links are followed. Throws a UserError when the lock
 * cannot be had in 10 seconds, or the file cannot be written.
 */
export async function changeFile(file: string, { shown, isPrivate, edit }: Change): Promise<void> {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    const path = followLinks(file)
    const lock = `${path}.lock`
    const owner = await takeLock(lock, shown)
    try {
      const before = readText(path)
      const after = edit(before)
      if (after !== undefined && after !== before) replace(path, after, isPrivate, () => holds(lock, owner))
    } finally {
      if (holds(lock, owner)) rmSync(lock, { force: true })
    }
  } catch (error) {
    if (error instanceof UserError || !isSystemError(error)) throw error
    throw new UserError(`cannot write \`${shown}\`: ${error.code}`, {
      hint: 'check the rights of the file and of its folder',
      cause: error,
    })
  }
}

/** The text of a file; undefined when there is none. Throws what node:fs throws. */
export function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (isSystemError(error) && (error.code === 'ENOENT' || error.code === 'ENOTDIR')) return undefined
    throw error
  }
}

/** Waits for the lock and gives the word that says it is ours. */
async function takeLock(lock: string, shown: string): Promise<string> {
  const owner = randomUUID()
  const deadline = Date.now() + PATIENCE
  for (;;) {
    try {
      writeFileSync(lock, owner, { flag: 'wx', mode: 0o600 })
      return owner
    } catch (error) {
      if (!isSystemError(error) || error.code !== 'EEXIST') throw error
    }
    if (age(lock) > STALE) rmSync(lock, { force: true })
    else if (Date.now() > deadline) {
      throw new UserError(`\`${shown}\` is being changed by another program`, {
        hint: `try again; if nothing else runs, remove \`${lock}\``,
      })
    } else await sleep(5 + Math.random() * 20)
  }
}

/** Milliseconds since the lock was taken; 0 when it has just been given back. */
function age(lock: string): number {
  const taken = statSync(lock, { throwIfNoEntry: false })?.mtimeMs
  return taken === undefined ? 0 : Date.now() - taken
}

const holds = (lock: string, owner: string): boolean => readText(lock) === owner

/** A process that was stopped for long finds its lock taken away: it must not put its old copy over what others have written since. */
function replace(path: string, text: string, isPrivate: boolean, isStillOurs: () => boolean): void {
  const temporary = `${path}.${randomUUID()}.tmp`
  const mode = isPrivate ? 0o600 : (statSync(path, { throwIfNoEntry: false })?.mode ?? 0o600) & 0o777
  try {
    const file = openSync(temporary, 'wx', mode)
    try {
      writeFileSync(file, text)
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
    if (!isStillOurs())
      throw new UserError('this command was stopped for too long and has changed nothing', { hint: 'run it again' })
    renameSync(temporary, path)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
}

/** Renaming over a link would replace the link. */
function followLinks(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

const isSystemError = (error: unknown): error is NodeJS.ErrnoException => error instanceof Error && 'syscall' in error
