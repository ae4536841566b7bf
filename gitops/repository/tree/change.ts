import { lstatSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { UserError } from '../../../compiler/diagnostics/user-error.ts'
import {
  type Facts,
  fingerprint,
  LOCK_NAME,
  type Lock,
  parseLock,
  recordedFiles,
  temporaryName,
} from '../../../project/lock.ts'
import { kustomization } from './files.ts'
import { type ConflictingFile, OverwriteRefusal } from './overwrite-refusal.ts'

export interface FolderOutput {
  readonly application: string
  readonly sources: readonly string[]
  /** Contents of the wanted files, by path relative to the folder, with `/`. */
  readonly files: ReadonlyMap<string, string>
  /** True to add a kustomization that lists all other files. */
  readonly index: boolean
  /**
   * True to keep all files that devctl wrote and that are not among `files`; false to keep none; a function selects
   * files by their paths.
   */
  readonly keepOthers: boolean | ((path: string) => boolean)
  /**
   * True to also replace and remove files that were edited by hand or that devctl did not write. Links and folders at
   * the paths of these files are always rejected.
   */
  readonly takeOver: boolean
  /**
   * True if nothing will be written, so that files edited by hand and files that devctl did not write are listed in
   * `edits`, not rejected.
   */
  readonly isOnlyLooked?: boolean
  /**
   * Additional content of the lock. If absent, the lock gets no facts, because the facts of an earlier lock no longer
   * apply.
   */
  readonly facts?: Facts
  /**
   * Parts of a shared folder that overlays use. The keys are the overlays, and the values are the names of the parts
   * (folders of bases).
   */
  readonly uses?: Readonly<Record<string, string>>
}

const INDEX = 'kustomization.yaml'

/** True for a file that a kustomization can list; the README of a layout is none. */
const isManifest = (path: string): boolean => /\.(ya?ml|json)$/.test(path)

/** Changes to make to a folder. */
export interface FolderPlan {
  readonly before: Lock | undefined
  /**
   * Existing files that devctl wrote: the keys are their paths, and the values are the fingerprints of the written
   * content.
   */
  readonly present: ReadonlyMap<string, string>
  readonly after: Lock
  /** Paths to write, and their contents. */
  readonly writes: ReadonlyMap<string, string>
  readonly removals: readonly string[]
  /** Files that would be changed or removed although they were edited, or although devctl did not write them. */
  readonly edits: readonly ConflictingFile[]
  /** Temporary files left by a killed run. */
  readonly leftovers: readonly string[]
  readonly unchanged: number
}

/**
 * Compares a folder with its wanted content. Throws a UserError, before anything is written, if the folder cannot be
 * written.
 */
export function planChange(root: string, shown: string, output: FolderOutput): FolderPlan {
  const before = readLock(root, shown)
  if (before && before.application !== output.application && !output.takeOver) {
    throw new UserError(
      `\`${shown}\` contains the manifests of the application \`${before.application}\`, not of \`${output.application}\``,
      { hint: 'name another folder, or replace them with `--take-over`' },
    )
  }
  const recorded = before ? recordedFiles(before) : new Set<string>()
  const files = new Map(output.files)
  const present = stillThere(root, before)
  const { keepOthers } = output
  const keeps = typeof keepOthers === 'function' ? keepOthers : () => keepOthers
  const others = new Map([...present].filter(([path]) => !files.has(path) && keeps(path)))
  // A run for some services also updates the index of the folder, even if the run's own output has no index.
  if (output.index || others.has(INDEX)) {
    others.delete(INDEX)
    files.set(INDEX, kustomization([...files.keys(), ...others.keys()].filter(isManifest)))
  }

  const blocked: string[] = []
  const edits: ConflictingFile[] = []
  const isOurs = (path: string, content: string) => {
    const found = fingerprint(path, content)
    return before?.files.get(path) === found || before?.pending.get(path) === found
  }

  const writes = new Map<string, string>()
  for (const [path, content] of files) {
    const there = look(root, path)
    if (there.kind === 'missing') writes.set(path, content)
    else if (there.kind === 'blocked') blocked.push(`\`${there.at}\` is ${there.what}`)
    else if (there.content !== content) {
      writes.set(path, content)
      if (!isOurs(path, there.content))
        edits.push({ path, there: there.content, wanted: content, isOurs: recorded.has(path) })
    }
  }

  const removals: string[] = []
  for (const path of recorded) {
    if (files.has(path) || keeps(path)) continue
    const there = look(root, path)
    if (there.kind === 'missing') continue
    if (there.kind === 'blocked') blocked.push(`\`${there.at}\` is ${there.what}`)
    else {
      removals.push(path)
      if (!isOurs(path, there.content)) edits.push({ path, there: there.content, isOurs: true })
    }
  }
  const lost = output.takeOver || output.isOnlyLooked ? [] : edits
  if (blocked.length + lost.length > 0) throw new OverwriteRefusal(shown, [...new Set(blocked)], lost)

  const isSame = before !== undefined && writes.size + removals.length === 0
  const facts = isSame && !isBetter(output.facts, before.facts) ? before.facts : output.facts
  const written = [...files].map(([path, content]) => [path, fingerprint(path, content)] as const)
  return {
    before,
    present,
    after: {
      application: output.application,
      // The sources of the kept files cannot be told apart, so all sources are listed.
      sources: isSame
        ? before.sources
        : keepOthers
          ? [...new Set([...(before?.sources ?? []), ...output.sources])].sort()
          : output.sources,
      ...(facts && { facts }),
      ...(output.uses && { uses: output.uses }),
      files: new Map([...others, ...written]),
      pending: new Map(),
    },
    writes,
    removals,
    edits,
    leftovers: [...(before?.pending.keys() ?? [])].map(temporaryName),
    unchanged: files.size - writes.size,
  }
}

/**
 * True if the facts of a rendering must replace the facts in the lock. Normally the lock's facts stay as long as no
 * file changes, so that a new version of devctl makes no commit. But a source commit is better than no commit, and than
 * uncommitted files.
 */
export function isBetter(facts: Facts | undefined, before: Facts | undefined): boolean {
  const isFirm = (one: Facts | undefined) => one?.source.commit !== undefined && !one.source.isDirty
  return isFirm(facts) && !isFirm(before)
}

/** Returns the recorded files that still exist, with the fingerprints of what devctl wrote. */
function stillThere(root: string, before: Lock | undefined): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  for (const [path, recorded] of [...(before?.pending ?? []), ...(before?.files ?? [])]) {
    const there = look(root, path)
    if (there.kind !== 'file') continue
    // The file may already have the pending content after a killed run. An edited file keeps the recorded fingerprint,
    // which reveals the edit.
    const isPending = before?.pending.get(path) === fingerprint(path, there.content)
    found.set(path, isPending ? before.pending.get(path)! : recorded)
  }
  return found
}

type Found =
  | { readonly kind: 'missing' }
  | { readonly kind: 'file'; readonly content: string }
  | { readonly kind: 'blocked'; readonly at: string; readonly what: string }

/** Returns the file at a path below the root. All parents in the path must be folders, not links. */
export function look(root: string, path: string): Found {
  const parts = path.split('/')
  for (let length = 1; length <= parts.length; length++) {
    const at = parts.slice(0, length).join('/')
    const found = lstatSync(join(root, at), { throwIfNoEntry: false })
    if (!found) return { kind: 'missing' }
    const isLast = length === parts.length
    if (found.isSymbolicLink()) return { kind: 'blocked', at, what: 'a symbolic link' }
    if (isLast && found.isFile()) return { kind: 'file', content: readFileSync(join(root, at), 'utf8') }
    if (isLast || !found.isDirectory())
      return { kind: 'blocked', at, what: !isLast ? 'not a folder' : found.isDirectory() ? 'a folder' : 'not a file' }
  }
  return { kind: 'missing' }
}

/**
 * Returns the lock of a folder; undefined if the folder has none. `shown` names the folder in errors. Throws a
 * UserError for a lock that devctl did not write.
 */
export function readLock(root: string, shown: string): Lock | undefined {
  const there = look(root, LOCK_NAME)
  if (there.kind === 'missing') return undefined
  if (there.kind === 'file') return parseLock(there.content, `${shown}/${LOCK_NAME}`)
  throw new UserError(`\`${shown}/${LOCK_NAME}\` is ${there.what}`, { hint: 'move it away' })
}
