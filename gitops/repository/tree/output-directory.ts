import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { isSystemError, reasonOf } from '../../../compiler/diagnostics/system-error.ts'
import { UserError } from '../../../compiler/diagnostics/user-error.ts'
import { fingerprint, holdsSecret, LOCK_NAME, type Lock, printLock, temporaryName } from '../../../project/lock.ts'
import { type FolderOutput, type FolderPlan, look, planChange } from './change.ts'

export interface WrittenCounts {
  readonly written: number
  readonly removed: number
  readonly unchanged: number
}

/**
 * Updates a folder to its wanted files. Deletes only files that the folder's lock records, and only if they still have
 * the content that devctl wrote. Replaces files atomically (temporary file and rename), leaves unchanged files alone,
 * and never follows links out of the folder. If a run is killed at any moment, the next run continues. `shown` names
 * the folder in errors. Throws a UserError, for example before the first write if it would overwrite a file that was
 * edited by hand or that devctl did not write.
 */
export function writeOutput(folder: string, shown: string, output: FolderOutput): WrittenCounts {
  try {
    const root = resolveRoot(folder, shown)
    const change = planChange(root, shown, output)
    return applyChange(root, change)
  } catch (error) {
    if (error instanceof UserError || !isSystemError(error)) throw error
    const hint = error.code === 'EEXIST' && error.path ? { hint: `if none does, remove \`${error.path}\`` } : {}
    throw new UserError(`cannot write to \`${shown}\`: ${writeReason(error)}`, { cause: error, ...hint })
  }
}

const WRITE_REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'a folder cannot be created there',
  ENOTDIR: 'a part of its path is a file',
  EEXIST: 'another devctl seems to be writing there',
}

const writeReason = (error: NodeJS.ErrnoException) => WRITE_REASONS[error.code ?? ''] ?? reasonOf(error)

/**
 * Returns the real path of the folder, which may itself be a link, because the user named it. Throws a UserError if the
 * path is not a folder.
 */
function resolveRoot(folder: string, shown: string): string {
  const found = statSync(folder, { throwIfNoEntry: false })
  if (!found) return folder
  if (found.isDirectory()) return realpathSync.native(folder)
  throw new UserError(`\`${shown}\` is not a folder`, {
    hint: 'move it away, or name another folder with `--output-dir`',
  })
}

/** Makes the changes that `planChange` found. Throws the errors of node:fs. */
export function applyChange(root: string, change: FolderPlan): WrittenCounts {
  const { before, present, after, writes, removals, leftovers, unchanged } = change
  const made = makeFolders(root)
  for (const path of [...leftovers, temporaryName(LOCK_NAME)]) {
    if (look(root, path).kind === 'file') rmSync(join(root, path))
  }
  const result = { written: writes.size, removed: removals.length, unchanged }
  const hasChanges = writes.size + removals.length > 0
  if (hasChanges) {
    const pending = [...writes].map(([path, content]) => [path, fingerprint(path, content)] as const)
    // A run that is killed from here on leaves a lock that lists both the old and the new content.
    writeLock(root, { ...after, files: present, pending: new Map(pending) })
    const temporaries: string[] = []
    try {
      for (const [path, content] of writes) temporaries.push(writeTemporary(root, path, content))
    } catch (error) {
      for (const temporary of temporaries) rmSync(temporary, { force: true })
      undo(root, change, made)
      throw error
    }
    for (const path of writes.keys()) renameSync(join(root, temporaryName(path)), join(root, path))
    for (const path of removals) rmSync(join(root, path))
    removeEmptyFolders(root, [...removals, ...(before?.pending.keys() ?? [])])
  }
  if (isNobodys(after)) {
    rmSync(join(root, LOCK_NAME), { force: true })
    removeEmptyFolders(dirname(root), [join(basename(root), LOCK_NAME)])
  } else if (hasChanges || !before || printLock(before) !== printLock(after)) writeLock(root, after)
  return result
}

/** Returns true for the lock of a shared folder that is no longer used; such a folder is deleted completely. */
const isNobodys = ({ uses, files }: Lock): boolean =>
  uses !== undefined && Object.keys(uses).length === 0 && files.size === 0

/**
 * Restores the lock and removes the new folders after a run that failed before any file was renamed. The temporary
 * files must already be removed.
 */
function undo(root: string, { before, writes }: FolderPlan, made: string | undefined): void {
  removeEmptyFolders(root, [...writes.keys()])
  if (before) writeLock(root, before)
  else rmSync(join(root, LOCK_NAME), { force: true })
  // `made` is the topmost folder that mkdir created above the root.
  if (made !== undefined) removeEmptyFolders(dirname(made), [join(relative(dirname(made), root), LOCK_NAME)])
}

/** Writes the file to a temporary path next to its final path, and returns the temporary path. */
function writeTemporary(root: string, path: string, content: string): string {
  const target = join(root, path)
  const temporary = join(root, temporaryName(path))
  makeFolders(dirname(target))
  // Fails if a link or a file has that name, so that nothing is written through a link.
  const file = openSync(temporary, 'wx', holdsSecret(path) ? 0o600 : 0o666)
  try {
    writeFileSync(file, content)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  } finally {
    closeSync(file)
  }
  const mode = statSync(target, { throwIfNoEntry: false })?.mode
  if (mode !== undefined) chmodSync(temporary, mode & 0o777)
  return temporary
}

function writeLock(root: string, lock: Lock): void {
  writeTemporary(root, LOCK_NAME, printLock(lock))
  renameSync(join(root, temporaryName(LOCK_NAME)), join(root, LOCK_NAME))
}

/**
 * Creates a folder and its parents, one after the other, and returns the topmost folder that it created; undefined if
 * the folder exists. Does not use Node's recursive mkdir, which never returns for a parent that does not accept folders
 * (`/proc/x`).
 */
function makeFolders(folder: string): string | undefined {
  if (existsSync(folder)) return undefined
  const first = makeFolders(dirname(folder))
  try {
    mkdirSync(folder)
  } catch (error) {
    if (!isSystemError(error) || error.code !== 'EEXIST') throw error
    if (!existsSync(folder))
      throw new UserError(`\`${folder}\` is a symbolic link that leads nowhere`, { cause: error })
    // Another process created the folder first.
  }
  return first ?? folder
}

/** Removes the folders that contained these paths, unless they contain other files. */
function removeEmptyFolders(root: string, paths: readonly string[]): void {
  const folders = new Set<string>()
  for (const path of paths) {
    for (let folder = dirname(path); folder !== '.'; folder = dirname(folder)) folders.add(folder)
  }
  for (const folder of [...folders].sort((a, b) => b.length - a.length)) {
    try {
      rmdirSync(join(root, folder))
    } catch {
      // The folder contains other files.
    }
  }
}
