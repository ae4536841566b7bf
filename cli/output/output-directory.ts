import {
  chmodSync,
  closeSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { plural } from '../../compiler/diagnostics/render/summary.ts'
import { UserError } from '../errors.ts'
import { reasonOf } from '../node-host.ts'
import { kustomization } from './files.ts'
import { fingerprint, holdsSecret, LOCK_NAME, type Lock, parseLock, printLock } from './lock.ts'

export interface Output {
  readonly environment: string
  readonly sources: readonly string[]
  /** Contents by path with `/`. */
  readonly files: ReadonlyMap<string, string>
  /** Add a kustomization that lists all others. */
  readonly index: boolean
  /** Files of ours that are not among `files` stay. */
  readonly keepOthers: boolean
  /** Replace and remove also what was edited by hand or is not ours; links and folders in the way are refused all the same. */
  readonly takeOver: boolean
}

const INDEX = 'kustomization.yaml'

export interface Written {
  readonly written: number
  readonly removed: number
  readonly unchanged: number
}

/**
 * Brings a folder in line with the files it should hold. Only files that the folder's lock records are removed, and only while their
 * content is what was written; anything that is in the way, edited by hand or somebody else's, is refused before the first write.
 * Files are replaced as a whole (temporary file and rename), unchanged ones are not touched, links are never followed out of the folder.
 * Killed at any moment, the next run carries on. `shown` names the folder in errors. Throws a UserError.
 */
export function writeOutput(folder: string, shown: string, output: Output): Written {
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
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EROFS: 'it is on a read-only disk',
  EEXIST: 'another devctl seems to write there at this moment',
}

const writeReason = (error: NodeJS.ErrnoException) => WRITE_REASONS[error.code ?? ''] ?? reasonOf(error)

const isSystemError = (error: unknown): error is NodeJS.ErrnoException => error instanceof Error && 'syscall' in error

/** The folder itself may be a link: the user named it. */
function resolveRoot(folder: string, shown: string): string {
  const found = statSync(folder, { throwIfNoEntry: false })
  if (!found) return folder
  if (found.isDirectory()) return realpathSync(folder)
  throw new UserError(`\`${shown}\` is no folder`, { hint: 'move it away, or name another folder with `--output-dir`' })
}

interface Change {
  readonly before: Lock | undefined
  readonly after: Lock
  /** Paths to write, and their contents. */
  readonly writes: ReadonlyMap<string, string>
  readonly removals: readonly string[]
  /** Temporary files that a killed run left. */
  readonly leftovers: readonly string[]
  readonly unchanged: number
}

function planChange(root: string, shown: string, output: Output): Change {
  const before = readLock(root, shown)
  if (before && before.environment !== output.environment && !output.takeOver) {
    throw new UserError(
      `\`${shown}\` holds the manifests of the environment \`${before.environment}\`, not of \`${output.environment}\``,
      { hint: 'name another folder, or replace them with `--take-over`' },
    )
  }
  const recorded = new Set([...(before?.files.keys() ?? []), ...(before?.pending.keys() ?? [])])
  const files = new Map(output.files)
  const others = output.keepOthers ? stillThere(root, before, files) : new Map<string, string>()
  // A run for some services keeps the index of the folder in step, whatever its own format is.
  if (output.index || others.has(INDEX)) {
    others.delete(INDEX)
    files.set(INDEX, kustomization([...files.keys(), ...others.keys()]))
  }

  const inTheWay: string[] = []
  const edited: string[] = []
  const isOurs = (path: string, content: string) => {
    const found = fingerprint(path, content)
    return before?.files.get(path) === found || before?.pending.get(path) === found
  }

  const writes = new Map<string, string>()
  for (const [path, content] of files) {
    const there = look(root, path)
    if (there.kind === 'missing') writes.set(path, content)
    else if (there.kind === 'blocked') inTheWay.push(`\`${there.at}\` is ${there.what}`)
    else if (there.content !== content) {
      writes.set(path, content)
      if (output.takeOver || isOurs(path, there.content)) continue
      if (recorded.has(path)) edited.push(path)
      else inTheWay.push(`\`${path}\` is not devctl's`)
    }
  }

  const removals: string[] = []
  for (const path of output.keepOthers ? [] : recorded) {
    if (files.has(path)) continue
    const there = look(root, path)
    if (there.kind === 'missing') continue
    if (there.kind === 'blocked') inTheWay.push(`\`${there.at}\` is ${there.what}`)
    else {
      removals.push(path)
      if (!output.takeOver && !isOurs(path, there.content)) edited.push(path)
    }
  }
  refuse(shown, [...new Set(inTheWay)], edited)

  const written = [...files].map(([path, content]) => [path, fingerprint(path, content)] as const)
  return {
    before,
    after: {
      environment: output.environment,
      // The sources of what is kept are not known apart; the union names them all.
      sources: output.keepOthers
        ? [...new Set([...(before?.sources ?? []), ...output.sources])].sort()
        : output.sources,
      ...(before?.source && { source: before.source }),
      files: new Map([...others, ...written]),
      pending: new Map(),
    },
    writes,
    removals,
    leftovers: [...(before?.pending.keys() ?? [])].map(temporaryName),
    unchanged: files.size - writes.size,
  }
}

/** The recorded files that are there and not about to be written, with the fingerprints of what devctl wrote. */
function stillThere(root: string, before: Lock | undefined, files: ReadonlyMap<string, string>): Map<string, string> {
  const found = new Map<string, string>()
  for (const [path, recorded] of [...(before?.pending ?? []), ...(before?.files ?? [])]) {
    const there = files.has(path) ? undefined : look(root, path)
    if (there?.kind !== 'file') continue
    // After a run that was killed it may be what was to come; an edited file keeps the record that tells so.
    const isPending = before?.pending.get(path) === fingerprint(path, there.content)
    found.set(path, isPending ? before.pending.get(path)! : recorded)
  }
  return found
}

function refuse(shown: string, inTheWay: readonly string[], edited: readonly string[]): void {
  if (inTheWay.length + edited.length === 0) return
  const notes = [...inTheWay, ...edited.map(path => `\`${path}\` was edited by hand since devctl wrote it`)]
  const more = notes.length > 10 ? [`and ${notes.length - 10} more`] : []
  const what = inTheWay.length === 0 ? plural(edited.length, 'edited file') : plural(notes.length, 'file')
  throw new UserError(`${what} in \`${shown}\` would be lost; nothing was written`, {
    notes: [...notes.slice(0, 10), ...more],
    hint: 'move them away, or replace files (never links and folders) with `--take-over`',
  })
}

type Found =
  | { readonly kind: 'missing' }
  | { readonly kind: 'file'; readonly content: string }
  | { readonly kind: 'blocked'; readonly at: string; readonly what: string }

/** What is at a path below the root, on the way to which there may be folders only. */
function look(root: string, path: string): Found {
  const parts = path.split('/')
  for (let length = 1; length <= parts.length; length++) {
    const at = parts.slice(0, length).join('/')
    const found = lstatSync(join(root, at), { throwIfNoEntry: false })
    if (!found) return { kind: 'missing' }
    const isLast = length === parts.length
    if (found.isSymbolicLink()) return { kind: 'blocked', at, what: 'a symbolic link' }
    if (isLast && found.isFile()) return { kind: 'file', content: readFileSync(join(root, at), 'utf8') }
    if (isLast || !found.isDirectory())
      return { kind: 'blocked', at, what: found.isDirectory() ? 'a folder' : 'no folder' }
  }
  return { kind: 'missing' }
}

function readLock(root: string, shown: string): Lock | undefined {
  const there = look(root, LOCK_NAME)
  if (there.kind === 'missing') return undefined
  if (there.kind === 'file') return parseLock(there.content, `${shown}/${LOCK_NAME}`)
  throw new UserError(`\`${shown}/${LOCK_NAME}\` is ${there.what}`, { hint: 'move it away' })
}

const temporaryName = (path: string) => `${path}.devctl-tmp`

function applyChange(root: string, change: Change): Written {
  const { before, after, writes, removals, leftovers, unchanged } = change
  const made = mkdirSync(root, { recursive: true })
  for (const path of [...leftovers, temporaryName(LOCK_NAME)]) {
    if (look(root, path).kind === 'file') rmSync(join(root, path))
  }
  const result = { written: writes.size, removed: removals.length, unchanged }
  if (writes.size + removals.length > 0) {
    const pending = [...writes].map(([path, content]) => [path, fingerprint(path, content)] as const)
    // From here on a kill leaves a lock that knows both what was and what was to come.
    writeLock(root, {
      ...(before ?? { ...after, files: new Map() }),
      environment: after.environment,
      pending: new Map(pending),
    })
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
  if (!before || printLock(before) !== printLock(after)) writeLock(root, after)
  return result
}

/** Nothing has been renamed yet: takes away what the run added. */
function undo(root: string, { before, writes }: Change, made: string | undefined): void {
  removeEmptyFolders(root, [...writes.keys()])
  if (before) writeLock(root, before)
  else rmSync(join(root, LOCK_NAME), { force: true })
  // `made` is the first folder that mkdir made on the way to the root; all of them are empty now.
  if (made !== undefined) rmSync(made, { recursive: true, force: true })
}

/** Writes the file beside its place and gives the path of what it wrote. */
function writeTemporary(root: string, path: string, content: string): string {
  const target = join(root, path)
  const temporary = join(root, temporaryName(path))
  mkdirSync(dirname(target), { recursive: true })
  // Fails where a link or a file has that name: nothing is written through it.
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

/** Removes the folders of these paths that hold nothing any more. */
function removeEmptyFolders(root: string, paths: readonly string[]): void {
  const folders = new Set<string>()
  for (const path of paths) {
    for (let folder = dirname(path); folder !== '.'; folder = dirname(folder)) folders.add(folder)
  }
  for (const folder of [...folders].sort((a, b) => b.length - a.length)) {
    try {
      rmdirSync(join(root, folder))
    } catch {
      // Somebody else's files are in it.
    }
  }
}
