import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { LOCK_NAME, type Lock } from '../../project/lock.ts'
import type { PushTarget, WorkingCopy } from './checkout.ts'
import { refuseLinks } from './links.ts'
import { expectedNote, markFor, newestSource, noteUnchanged } from './newest-source.ts'
import type { PublishedFolder } from './published-folder.ts'
import { type Commit, type Pushed, type PushOptions, pushTo } from './push.ts'
import {
  isOnRequest,
  type RequestBranch,
  readRequestBranch,
  removeRequestBranch,
  requestFile,
  requestLock,
  withBase,
} from './request-branch.ts'
import { refuseSameObjects } from './same-objects.ts'
import { type IsAncestor, type MissingSource, orderOf } from './source-order.ts'
import { type FolderOutput, type FolderPlan, isBetter, planChange } from './tree/change.ts'
import { applyChange } from './tree/output-directory.ts'
import { type RepositoryReader, readerOf } from './tree/repository-reader.ts'

/** Desired content of a repository. */
export interface Publication {
  readonly target: PushTarget
  /** Path of the application's own folder from the root of the repository, with `/`; `.` is the root. */
  readonly path: string
  /**
   * Returns the folders, the application's own folder first. Called again for each fetched head, since some of the
   * content depends on it.
   */
  readonly folders: (there: Repository) => Promise<readonly PublishedFolder[]>
  /** True to publish even if the source is older than the published source. */
  readonly rollback: boolean
}

/** Current content of the repository. */
export interface Repository extends RepositoryReader {
  /**
   * Reader for locks and files on the branch of the pull request. Both functions return undefined for a missing file.
   */
  readonly request: {
    lock(path: string): Promise<Lock | undefined>
    read(path: string): Promise<string | undefined>
  }
}

/** Planned change of a folder. */
export interface FolderChange {
  readonly path: string
  readonly change: FolderPlan
  /** Current content of the files that devctl wrote, by path in the folder. */
  readonly before: ReadonlyMap<string, string>
  readonly added: number
}

export type Outcome =
  /**
   * Nothing has to be written. `request` is set if an open pull request was closed, because it no longer had changes:
   * `removed` if its branch was removed, `left` if the server did not allow that.
   */
  | {
      readonly kind: 'unchanged'
      readonly head: string | undefined
      readonly branch: string
      readonly request?: 'removed' | 'left'
    }
  /** The branch of the pull request already has the content. */
  | {
      readonly kind: 'requested'
      readonly branch: string
      readonly commit: string
      readonly changes: readonly FolderChange[]
    }
  /** The content of the branch, or of the pull request, comes from a source that has our source among its ancestors. */
  | { readonly kind: 'newer'; readonly source: string; readonly isRequest: boolean }
  /** Changes that would be made (`--dry-run`, `--verify`). */
  | {
      readonly kind: 'planned'
      readonly branch: string
      readonly changes: readonly FolderChange[]
      /** Newer source commit that the branch already represents. */
      readonly newer?: string
    }
  | { readonly kind: 'pushed'; readonly pushed: Pushed; readonly changes: readonly FolderChange[] }

export interface PublishOptions extends PushOptions {
  /** True to push nothing and only compute the changes. */
  readonly dryRun: boolean
  /** True to compare the files even if the branch already has a newer source. Implies `dryRun`. */
  readonly verify: boolean
  /** Returns the commit message for the changes. */
  readonly message: (changes: readonly FolderChange[]) => Promise<string>
  /**
   * Closes the open pull request into a branch, before the branch of the pull request is removed because nothing
   * differs any more.
   */
  readonly closeRequest: (base: string) => Promise<void>
  readonly isAncestor: IsAncestor
  /** Receives each published commit whose changes this publish undoes. */
  readonly tellMissing: (missing: MissingSource) => void
}

/**
 * Updates a branch of a repository to the wanted content with one commit, or without a commit if nothing differs. Never
 * changes files that devctl did not write, and never overwrites newer content with older. Throws a UserError, before
 * anything is pushed, if the publish cannot proceed.
 */
export async function publish(publication: Publication, options: PublishOptions): Promise<Outcome> {
  let changes: readonly FolderChange[] = []
  const isAncestor = remembered(options.isAncestor)
  const tellMissing = eachOnce(options.tellMissing)
  const result = await pushTo<Outcome>(
    publication.target,
    {
      async write(checkout) {
        const seen = await lookAt(checkout, publication, options)
        changes = seen.changes
        const { newer, missing } = await compareSources(checkout, publication, seen, isAncestor)
        if (newer !== undefined && !options.verify) return { done: { kind: 'newer', ...newer } }
        if (changes.every(isSame)) return { done: await leave(checkout, publication, options, seen, isAncestor) }
        await refuseSameObjects(checkout, seen.folders)
        const written = options.dryRun
          ? { done: planned(checkout, changes, newer?.source) }
          : await writeChanges(checkout, publication, options, seen)
        // A request that already has our files undoes nothing.
        const isThere = 'done' in written && written.done.kind === 'requested'
        for (const one of missing) if (!(one.isRequest && isThere)) tellMissing(one)
        return written
      },
    },
    options,
  )
  return 'done' in result ? result.done : { kind: 'pushed', pushed: result.pushed, changes }
}

const planned = ({ branch }: WorkingCopy, changes: readonly FolderChange[], newer: string | undefined): Outcome => ({
  kind: 'planned',
  branch,
  changes,
  ...(newer !== undefined && { newer }),
})

/** Content of a checkout, and the changes to make to it. */
interface Seen {
  readonly folders: readonly PublishedFolder[]
  readonly changes: readonly FolderChange[]
  readonly request: RequestBranch | undefined
  /** Source commit that is being published; undefined if the files are in no repository. */
  readonly ours: string | undefined
  /** True if the push also updates the note about the newest source of the folder (`newest-source.ts`). */
  readonly isNoted: boolean
  /**
   * True if the note about the newest source has to be fetched, because no push will check it: this run pushes nothing,
   * or its source has uncommitted changes.
   */
  readonly mustKnow: boolean
}

async function lookAt(checkout: WorkingCopy, publication: Publication, { dryRun }: PublishOptions): Promise<Seen> {
  const { target } = publication
  if (checkout.head === undefined && target.request !== undefined && !dryRun) throw noBase(checkout.branch)
  const folders = await publication.folders(repositoryIn(checkout))
  await Promise.all(folders.map(({ path }) => refuseLinks(checkout, path)))
  const changes = folders.map(folder => planFolder(checkout.folder, folder))
  const isTakenOver = folders.some(({ output }) => output.takeOver)
  const request = await readRequestBranch(checkout, target, isTakenOver)
  const { commit: ours, isDirty = false } = folders[0]?.output.facts?.source ?? {}
  const isDirect = target.request === undefined
  return {
    folders,
    changes,
    request,
    ours,
    isNoted: isDirect && !dryRun && ours !== undefined && !isDirty,
    mustKnow: isDirect && (dryRun || isDirty) && !changes.every(isSame),
  }
}

/**
 * Handles a publish without changes to the branch: notes that our source renders to the files of the branch. If a pull
 * request is open, closes it and removes its branch, because its content differs from the wanted content.
 */
async function leave(
  checkout: WorkingCopy,
  { path, rollback }: Publication,
  { dryRun, closeRequest }: PublishOptions,
  { request, ours, isNoted }: Seen,
  isAncestor: IsAncestor,
): Promise<Outcome> {
  const { head, branch } = checkout
  const noted = isNoted && ours !== undefined
  const source = noted ? await noteUnchanged(checkout, path, ours, { rollback, isAncestor }) : undefined
  if (source !== undefined) return { kind: 'newer', source, isRequest: false }
  if (!request || dryRun) return { kind: 'unchanged', head, branch }
  await closeRequest(branch)
  const isRemoved = await removeRequestBranch(checkout, request)
  return { kind: 'unchanged', head, branch, request: isRemoved ? 'removed' : 'left' }
}

/** Writes the files, and returns the commit to create, unless the open pull request already has the files. */
async function writeChanges(
  checkout: WorkingCopy,
  { target, path }: Publication,
  options: PublishOptions,
  { folders, changes, request, ours, isNoted }: Seen,
): Promise<{ readonly commit: Commit } | { readonly done: Outcome }> {
  const text = await options.message(changes)
  const message = target.request === undefined ? text : withBase(text, checkout.branch)
  const expected = isNoted ? await expectedNote(checkout, path) : undefined
  for (const { path, change } of changes) applyChange(join(checkout.folder, path), change)
  const paths = changes.flatMap(pathsOf)
  const isFirmer = isBetter(folders[0]?.output.facts, (await requestLock(checkout, path))?.facts)
  if (request && !isFirmer && (await isOnRequest(checkout, request, target.paths, paths)))
    return { done: { kind: 'requested', branch: checkout.branch, commit: request.commit, changes } }
  if (ours === undefined || expected === undefined) return { commit: { message, paths } }
  const mark = { ...expected, ...(await markFor(checkout, path, ours, expected.expected)) }
  return { commit: { message, paths, mark } }
}

/** Returns a callback that reports each source only once, even if a push is retried. */
function eachOnce(tell: PublishOptions['tellMissing']): PublishOptions['tellMissing'] {
  const told = new Set<string>()
  return one => {
    if (told.has(one.source)) return
    told.add(one.source)
    tell(one)
  }
}

/** Caches the answers, so that the source's server receives each request only once. */
function remembered(ask: IsAncestor): IsAncestor {
  const known = new Map<string, Promise<boolean | undefined>>()
  return (older, newer) => {
    const key = `${older} ${newer}`
    const asked = known.get(key) ?? ask(older, newer)
    known.set(key, asked)
    return asked
  }
}

/** Returns the error for a pull request into a branch that has no commit. */
export const noBase = (branch: string): UserError =>
  new UserError(`\`${branch}\` has no commit yet, so that nothing can be merged into it`, {
    hint: 'push a first commit, such as a README, or publish once without a pull request',
  })

const repositoryIn = (checkout: WorkingCopy): Repository => ({
  ...readerOf(checkout.folder),
  request: { lock: path => requestLock(checkout, path), read: path => requestFile(checkout, path) },
})

/**
 * True if nothing has to be written. A lock with pending files has to be completed. The lock of a folder that several
 * environments share must also list every use of the folder's parts; otherwise the next publish of another environment
 * would remove a part that is in use.
 */
export function isSame({ change: { writes, removals, before, after } }: FolderChange): boolean {
  if (before === undefined || writes.size + removals.length > 0 || before.facts !== after.facts) return false
  if (before.pending.size > 0) return false
  return Object.entries(after.uses ?? {}).every(([user, part]) => before.uses?.[user] === part)
}

/**
 * Compares a folder with its wanted content. `top` is the root of the repository, and `shown` names the folder in
 * errors. Throws a UserError if the folder cannot be written.
 */
export function planFolder(top: string, { path, output }: PublishedFolder, shown = path): FolderChange {
  const root = join(top, path)
  const change = planChange(root, shown, output)
  refuseOtherTarget(shown, change, output)
  const before = new Map([...change.present.keys()].map(file => [file, readFileSync(join(root, file), 'utf8')]))
  const added = [...change.writes.keys()].filter(file => !before.has(file)).length
  return { path, change, before, added }
}

/**
 * Throws a UserError if the folder contains another environment: each environment has its own folder, so the path is
 * wrong.
 */
function refuseOtherTarget(path: string, { before }: FolderPlan, { facts, takeOver }: FolderOutput): void {
  const there = before?.facts?.environment
  if (takeOver || there === undefined || !facts || facts.environment === there) return
  const ours = facts.environment === undefined ? 'none' : `\`${facts.environment}\``
  throw new UserError(`\`${path}\` contains the environment \`${there}\`, but this is ${ours}`, {
    hint: 'choose another place with `--path` or `--oci`, or replace it with `--take-over`',
  })
}

function pathsOf({ path, change: { writes, removals } }: FolderChange): readonly string[] {
  const inRepository = (file: string) => (path === '.' ? file : `${path}/${file}`)
  return [...writes.keys(), ...removals, LOCK_NAME].map(inRepository)
}

/**
 * Compares the source commits that are already published, on the branch and in the pull request, with our source
 * commit. Returns a published commit that has ours among its ancestors, and the published commits that our history
 * lacks.
 */
async function compareSources(
  checkout: WorkingCopy,
  { path, rollback }: Publication,
  { ours, mustKnow }: Seen,
  isAncestor: IsAncestor,
): Promise<{ readonly newer?: Omit<MissingSource, 'ours'>; readonly missing: readonly MissingSource[] }> {
  if (rollback || ours === undefined) return { missing: [] }
  const requested = await requestLock(checkout, path)
  const there = [await newestSource(checkout, path, mustKnow), requested?.facts?.source.commit]
  const missing: MissingSource[] = []
  for (const [index, source] of there.entries()) {
    if (source === undefined) continue
    const isRequest = index === 1
    const order = await orderOf(source, ours, isAncestor)
    if (order === 'newer') return { newer: { source, isRequest }, missing: [] }
    if (order === 'missing') missing.push({ source, ours, isRequest })
  }
  return { missing }
}
