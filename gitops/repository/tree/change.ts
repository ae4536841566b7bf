import { lstatSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { UserError } from '../../../compiler/diagnostics/user-error.ts'
import { type Facts, fingerprint, LOCK_NAME, type Lock, parseLock, temporaryName } from '../../../project/lock.ts'
import { kustomization } from './files.ts'
import { type ConflictingFile, OverwriteRefusal } from './overwrite-refusal.ts'

export interface FolderOutput {
  readonly application: string
  readonly sources: readonly string[]
  /** Contents by path with `/`. */
  readonly files: ReadonlyMap<string, string>
  /** Add a kustomization that lists all others. */
  readonly index: boolean
  /**
   * True if our files that are not among `files` stay: all of them, none, or some by their paths.
   */
  readonly keepOthers: boolean | ((path: string) => boolean)
  /**
   * Replace and remove also what was edited by hand or is not ours; links and folders in the way
   * are refused all the same.
   */
  readonly takeOver: boolean
  /**
   * Nothing will be written: what was edited by hand or is not ours is listed in `edits`, not
   * refused.
   */
  readonly isOnlyLooked?: boolean
  /**
   * The further content of the lock. Absent: none, since the facts of an earlier lock are no longer
   * true.
   */
  readonly facts?: Facts
  /** The users of a folder that several overlays share, with the part that each uses. */
  readonly uses?: Readonly<Record<string, string>>
}

const INDEX = 'kustomization.yaml'

/** The changes to make to a folder. */
export interface FolderPlan {
  readonly before: Lock | undefined
  /** Existing files of ours, with the fingerprints of what devctl wrote. */
  readonly present: ReadonlyMap<string, string>
  readonly after: Lock
  /** Paths to write, and their contents. */
  readonly writes: ReadonlyMap<string, string>
  readonly removals: readonly string[]
  /** Files among these that another user or tool has written or edited. */
  readonly edits: readonly ConflictingFile[]
  /** Temporary files that a killed run left. */
  readonly leftovers: readonly string[]
  readonly unchanged: number
}

/**
 * Compares a folder with what it should hold. Throws a UserError, and has written nothing, where
 * something is in the way.
 */
export function planChange(root: string, shown: string, output: FolderOutput): FolderPlan {
  const before = readLock(root, shown)
  if (before && before.application !== output.application && !output.takeOver) {
    throw new UserError(
      `\`${shown}\` contains the manifests of the application \`${before.application}\`, not of \`${output.application}\``,
      { hint: 'name another folder, or replace them with `--take-over`' },
    )
  }
  const recorded = new Set([...(before?.files.keys() ?? []), ...(before?.pending.keys() ?? [])])
  const files = new Map(output.files)
  const present = stillThere(root, before)
  const { keepOthers } = output
  const keeps = typeof keepOthers === 'function' ? keepOthers : () => keepOthers
  const others = new Map([...present].filter(([path]) => !files.has(path) && keeps(path)))
  // A run for some services keeps the index of the folder in step, whatever its own format is.
  if (output.index || others.has(INDEX)) {
    others.delete(INDEX)
    files.set(INDEX, kustomization([...files.keys(), ...others.keys()]))
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
      // The sources of what is kept are not known apart; the union names them all.
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
 * True if the facts of a rendering must replace those in the lock. Those stay as long as no file
 * changes, so that a new version of devctl makes no commit. But a commit of the source is better
 * than none, and than uncommitted files.
 */
function isBetter(facts: Facts | undefined, before: Facts | undefined): boolean {
  const isFirm = (one: Facts | undefined) => one?.source.commit !== undefined && !one.source.isDirty
  return isFirm(facts) && !isFirm(before)
}

/** Returns the recorded files that still exist, with the fingerprints of what devctl wrote. */
function stillThere(root: string, before: Lock | undefined): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  for (const [path, recorded] of [...(before?.pending ?? []), ...(before?.files ?? [])]) {
    const there = look(root, path)
    if (there.kind !== 'file') continue
    // After a killed run, the file may already have the pending content; an edited file keeps the recorded fingerprint,
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

/** The file at a path below the root, which may lead through folders only. */
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
 * The lock of a folder; undefined where it has none. `shown` names the folder. Throws a UserError
 * for one that devctl did not write.
 */
export function readLock(root: string, shown: string): Lock | undefined {
  const there = look(root, LOCK_NAME)
  if (there.kind === 'missing') return undefined
  if (there.kind === 'file') return parseLock(there.content, `${shown}/${LOCK_NAME}`)
  throw new UserError(`\`${shown}/${LOCK_NAME}\` is ${there.what}`, { hint: 'move it away' })
}
