import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { UserError } from '../compiler/diagnostics/user-error.ts'
import type { Checkout, Target } from './checkout.ts'
import { refuseLinks } from './links.ts'
import { refuseSameObjects } from './neighbours.ts'
import { expectedNote, markFor, newestSource, noteUnchanged } from './newest-source.ts'
import { type Commit, type Pushed, type PushOptions, pushTo } from './push.ts'
import { isOnRequest, readRequestBranch, removeRequestBranch, requestFile, requestLock } from './request-branch.ts'
import { type Change, type Output, planChange } from './tree/change.ts'
import { LOCK_NAME, type Lock } from './tree/lock.ts'
import { applyChange } from './tree/output-directory.ts'
import { type There, thereIn } from './tree/there.ts'

/** What should be in a repository. */
export interface Publication {
  readonly target: Target
  /** The application's own folder, from the root of the repository with `/`; `.` is the root. */
  readonly path: string
  /** The folders, the application's own first; asked for anew on each fresh head, since some of it depends on what is there. */
  readonly folders: (there: Repository) => Promise<readonly PublishedFolder[]>
  /** The source is older than what is there: publish it all the same. */
  readonly rollback: boolean
}

/** The repository as it is now. */
export interface Repository extends There {
  /** The same two of the branch of a pull request. */
  readonly request: {
    lock(path: string): Promise<Lock | undefined>
    read(path: string): Promise<string | undefined>
  }
}

export interface PublishedFolder {
  /** From the root of the repository, with `/`; `.` is the root. */
  readonly path: string
  readonly output: Output
}

/** What would become of a folder. */
export interface FolderChange {
  readonly path: string
  readonly change: Change
  /** The files of ours as they are now, by path in the folder. */
  readonly before: ReadonlyMap<string, string>
  readonly added: number
}

export type Outcome =
  /** Nothing to write. `request`: a pull request had a branch that has nothing to say any more; it was removed, or the server did not let it go. */
  | {
      readonly kind: 'unchanged'
      readonly head: string | undefined
      readonly branch: string
      readonly request?: 'removed' | 'left'
    }
  /** The branch of the pull request holds it already. */
  | {
      readonly kind: 'requested'
      readonly branch: string
      readonly commit: string
      readonly changes: readonly FolderChange[]
    }
  /** What is there, or in the pull request, comes from a source that has ours among its ancestors. */
  | { readonly kind: 'newer'; readonly source: string; readonly isRequest: boolean }
  /** What would be written (`--dry-run`, `--verify`). */
  | { readonly kind: 'planned'; readonly branch: string; readonly changes: readonly FolderChange[] }
  | { readonly kind: 'pushed'; readonly pushed: Pushed; readonly changes: readonly FolderChange[] }

export interface PublishOptions extends PushOptions {
  /** Only look. */
  readonly dryRun: boolean
  /** The message of the commit, from what is changed by it. */
  readonly message: (changes: readonly FolderChange[]) => Promise<string>
  /** Closes the open pull request into a branch, before its own branch is removed because nothing differs any more. */
  readonly closeRequest: (base: string) => Promise<void>
  /** Whether the first commit of the source is an ancestor of the second one; undefined where it cannot be told. */
  readonly isAncestor: (older: string, newer: string) => Promise<boolean | undefined>
}

/**
 * Brings a branch of a repository to what it should hold: one commit, or none where nothing differs. Nobody else's file is touched, nothing older overwrites
 * something newer. Throws a UserError, and has pushed nothing, where something is in the way.
 */
export async function publish(publication: Publication, options: PublishOptions): Promise<Outcome> {
  const { target } = publication
  let changes: readonly FolderChange[] = []
  const known = new Map<string, Promise<boolean | undefined>>()
  const isAncestor = (older: string, newer: string) => {
    const key = `${older} ${newer}`
    const asked = known.get(key) ?? options.isAncestor(older, newer)
    known.set(key, asked)
    return asked
  }
  const work = {
    async write(checkout: Checkout): Promise<{ readonly commit: Commit } | { readonly done: Outcome }> {
      const { head, branch } = checkout
      if (head === undefined && target.request !== undefined && !options.dryRun) throw noBase(branch)
      const folders = await publication.folders(repositoryIn(checkout))
      await Promise.all(folders.map(({ path }) => refuseLinks(checkout, path)))
      changes = folders.map(folder => planFolder(checkout, folder))
      const request = await readRequestBranch(
        checkout,
        target,
        folders.some(({ output }) => output.takeOver),
      )
      const { rollback, path } = publication
      const isUnchanged = changes.every(isSame)
      const { commit: ours, isDirty } = folders[0]?.output.facts?.source ?? {}
      // What is not noted for others does not ask them by its push.
      const mustKnow = !isUnchanged && target.request === undefined && (options.dryRun || isDirty === true)
      const newer =
        rollback || ours === undefined ? undefined : await newerSource(checkout, path, { ours, mustKnow, isAncestor })
      if (newer !== undefined) return { done: { kind: 'newer', ...newer } }
      const isNoted = target.request === undefined && !options.dryRun && ours !== undefined && !isDirty
      if (isUnchanged) {
        const source = isNoted ? await noteUnchanged(checkout, path, ours, { rollback, isAncestor }) : undefined
        if (source !== undefined) return { done: { kind: 'newer', source, isRequest: false } }
        if (!request || options.dryRun) return { done: { kind: 'unchanged', head, branch } }
        await options.closeRequest(branch)
        const isRemoved = await removeRequestBranch(checkout, request)
        return { done: { kind: 'unchanged', head, branch, request: isRemoved ? 'removed' : 'left' } }
      }
      await refuseSameObjects(checkout, folders)
      if (options.dryRun) return { done: { kind: 'planned', branch, changes } }
      const message = await options.message(changes)
      const expected = isNoted ? await expectedNote(checkout, path) : undefined
      for (const { path, change } of changes) applyChange(join(checkout.folder, path), change)
      const paths = changes.flatMap(pathsOf)
      if (request && (await isOnRequest(checkout, request, target.paths, paths)))
        return { done: { kind: 'requested', branch, commit: request.commit, changes } }
      if (ours === undefined || expected === undefined) return { commit: { message, paths } }
      const mark = { ...expected, ...(await markFor(checkout, path, ours, expected.expected)) }
      return { commit: { message, paths, mark } }
    },
  }
  const result = await pushTo(target, work, options)
  return 'done' in result ? result.done : { kind: 'pushed', pushed: result.pushed, changes }
}

const noBase = (branch: string) =>
  new UserError(`\`${branch}\` has no commit yet, so that nothing can be merged into it`, {
    hint: 'give it a first one, such as a README, or publish once without a pull request',
  })

const repositoryIn = (checkout: Checkout): Repository => ({
  ...thereIn(checkout.folder),
  request: { lock: path => requestLock(checkout, path), read: path => requestFile(checkout, path) },
})

/** Who uses a part of a shared folder must be written there, or the next publish of another environment takes it away. */
function isSame({ change: { writes, removals, before, after } }: FolderChange): boolean {
  if (before === undefined || writes.size + removals.length > 0 || before.facts !== after.facts) return false
  return Object.entries(after.uses ?? {}).every(([user, part]) => before.uses?.[user] === part)
}

function planFolder({ folder }: Checkout, { path, output }: PublishedFolder): FolderChange {
  const root = join(folder, path)
  const change = planChange(root, path, output)
  refuseOtherTarget(path, change, output)
  const before = new Map([...change.present.keys()].map(file => [file, readFileSync(join(root, file), 'utf8')]))
  const added = [...change.writes.keys()].filter(file => !before.has(file)).length
  return { path, change, before, added }
}

/** One folder is one environment: that of another one is there by a mistake in a path. */
function refuseOtherTarget(path: string, { before }: Change, { facts, takeOver }: Output): void {
  const there = before?.facts?.environment
  if (takeOver || there === undefined || !facts || facts.environment === there) return
  const ours = facts.environment === undefined ? 'none' : `\`${facts.environment}\``
  throw new UserError(`\`${path}\` holds the environment \`${there}\`, and this is ${ours}`, {
    hint: 'choose another folder with `--path`, or replace it with `--take-over`',
  })
}

function pathsOf({ path, change: { writes, removals } }: FolderChange): readonly string[] {
  const inRepository = (file: string) => (path === '.' ? file : `${path}/${file}`)
  return [...writes.keys(), ...removals, LOCK_NAME].map(inRepository)
}

/** The source commit that is there already, on the branch or in the pull request, and has ours among its ancestors. */
async function newerSource(
  checkout: Checkout,
  path: string,
  {
    ours,
    mustKnow,
    isAncestor,
  }: { readonly ours: string; readonly mustKnow: boolean; readonly isAncestor: PublishOptions['isAncestor'] },
): Promise<{ readonly source: string; readonly isRequest: boolean } | undefined> {
  const requested = await requestLock(checkout, path)
  const there = [await newestSource(checkout, path, mustKnow), requested?.facts?.source.commit]
  for (const [index, source] of there.entries()) {
    // Most are newer than what is there: asked first, that is all that is asked.
    if (source === undefined || source === ours || (await isAncestor(source, ours)) === true) continue
    if ((await isAncestor(ours, source)) === true) return { source, isRequest: index === 1 }
  }
  return undefined
}
