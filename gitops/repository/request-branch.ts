import { posix } from 'node:path'
import { type Git, GitFailure } from '../../adapters/git/git.ts'
import { classify } from '../../adapters/git/rejection.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { fingerprint, LOCK_NAME, type Lock, parseLock } from '../../project/lock.ts'
import { literal, type PushTarget, stage, type WorkingCopy } from './checkout.ts'
import { look } from './tree/change.ts'

/** Trailers that identify commits made by devctl. */
const OURS = /^Devctl-(Source|Environment|Image|Applications?): /m

/** Existing branch of a pull request. */
export interface RequestBranch {
  readonly name: string
  readonly commit: string
  /**
   * True if the published folders have not changed in the base since the branch was created: they have the same content
   * in the parent of the branch's commit and in the current base. The branch can then be merged unchanged.
   */
  readonly isOnBase: boolean
}

/**
 * Reads the branch of the pull request; undefined if it does not exist. Each publish rewrites the branch, which would
 * discard other users' changes. Therefore, unless `takeOver` is true, throws a UserError for a commit of another user,
 * for an amended commit of devctl, and for a branch that was created for another base.
 */
export async function readRequestBranch(
  checkout: WorkingCopy,
  { request: name, paths }: Pick<PushTarget, 'request' | 'paths'>,
  takeOver: boolean,
): Promise<RequestBranch | undefined> {
  const { git, head, requestHead: commit } = checkout
  if (name === undefined || commit === undefined) return undefined
  const parent = await parentOf(git, commit, head)
  if (!takeOver) {
    await refuseForeignCommit(checkout, { name, commit })
    await refuseOtherBase(checkout, { name, commit })
    if (parent !== undefined) await refuseAmended(checkout, commit, parent, { name, paths })
  }
  const isSame = async (one: string, other: string) =>
    (await git.ask('diff-tree', '-r', '--quiet', one, other, '--', ...paths.map(literal))) !== undefined
  const isOnBase = parent !== undefined && head !== undefined && (parent === head || (await isSame(parent, head)))
  return { name, commit, isOnBase }
}

/**
 * Returns the parent of a commit that was fetched without its history; undefined if it has no parent, or if the server
 * does not provide the parent. Throws a GitFailure if the connection fails.
 */
async function parentOf(git: Git, commit: string, known: string | undefined): Promise<string | undefined> {
  // The clone is shallow, so only the commit object names the parent.
  const parent = /^parent ([0-9a-f]+)$/m.exec(await git.run('cat-file', 'commit', commit))?.[1]
  if (parent === undefined || parent === known) return parent
  try {
    await git.run('fetch', '--quiet', '--no-tags', '--depth=1', '--filter=blob:none', 'origin', parent)
    return parent
  } catch (error) {
    // The push is tried again after a broken connection: without the parent, an amended commit would not be noticed.
    if (!(error instanceof GitFailure) || classify(error.said) !== 'refused') throw error
    return undefined
  }
}

/** Throws a UserError if the newest commit was not made by devctl. */
export async function refuseForeignCommit(
  { git }: Pick<WorkingCopy, 'git'>,
  { name, commit }: Pick<RequestBranch, 'name' | 'commit'>,
  hint = HINT,
): Promise<void> {
  const [author = '', ...message] = (await git.run('log', '-1', '--format=%an%n%B', commit)).split('\n')
  if (OURS.test(message.join('\n'))) return
  throw new UserError(`someone else has pushed to \`${name}\`, which devctl would overwrite`, {
    notes: [`${commit.slice(0, 7)} by ${author}: ${message[0] ?? ''}`],
    hint,
  })
}

const HINT =
  'make the change in the Compose files and remove it from the branch, or merge or close the request and remove the branch; `--take-over` discards it'

/**
 * Returns the commit message with an added trailer, which names the branch that the pull request is to be merged into.
 */
export const withBase = (message: string, branch: string): string => `${message.trimEnd()}\nDevctl-Base: ${branch}\n`

/**
 * Throws a UserError if the branch of the pull request was created for another base branch: after a rewrite, its open
 * request would also contain the commits of this base. Branches that older versions created do not name their base.
 */
export async function refuseOtherBase(
  { git, branch }: Pick<WorkingCopy, 'git' | 'branch'>,
  { name, commit }: Pick<RequestBranch, 'name' | 'commit'>,
  hint = `${REMOVE_BRANCH}; \`--take-over\` replaces it`,
): Promise<void> {
  const base = /^Devctl-Base: (.+)$/m.exec(await git.run('log', '-1', '--format=%B', commit))?.[1]
  if (base === undefined || base === branch) return
  throw new UserError(`\`${name}\` is the branch of a pull request into \`${base}\`, not into \`${branch}\``, { hint })
}

/** Hint for the case that an existing branch has to be removed before the pull request can be created. */
export const REMOVE_BRANCH = 'merge the request, or close it and remove the branch'

/**
 * Compares the changes of the commit with the files that devctl wrote according to its locks. Throws a UserError if
 * they differ.
 */
async function refuseAmended(
  { git, folder }: WorkingCopy,
  commit: string,
  parent: string,
  { name, paths }: { readonly name: string; readonly paths: readonly string[] },
): Promise<void> {
  const listed = (await git.run('diff-tree', '-r', '-z', '--name-status', '--no-renames', parent, commit)).split('\0')
  const changed = listed.flatMap((path, index) =>
    index % 2 === 1 ? [{ path, isThere: listed[index - 1] !== 'D' }] : [],
  )
  // The environment may have had another folder when the request was opened.
  const written = changed.flatMap(({ path, isThere }) =>
    isThere && posix.basename(path) === LOCK_NAME ? [posix.dirname(path)] : [],
  )
  const folders = [...new Set([...paths, ...written])].sort((a, b) => depthOf(b) - depthOf(a))
  // The innermost folder comes first: the folder of an overlay may contain the folder of its base.
  const folderOf = (path: string) => folders.find(one => one === '.' || path.startsWith(`${one}/`))
  const locks = new Map<string, Lock | undefined>()
  for (const path of folders) locks.set(path, await lockAt(git, commit, path))
  const inside = changed.filter(({ path, isThere }) => isThere && folderOf(path) !== undefined).map(({ path }) => path)
  // A file of another user may have any name.
  const restored = inside.map(literal)
  if (inside.length > 0)
    await git.run('restore', `--source=${commit}`, '--worktree', '--ignore-skip-worktree-bits', '--', ...restored)
  const theirs = changed.filter(({ path, isThere }) => {
    const own = folderOf(path)
    if (own === undefined) return true
    const file = own === '.' ? path : path.slice(own.length + 1)
    if (file === LOCK_NAME) return false
    const found = isThere ? look(folder, path) : undefined
    return !isRecorded(locks.get(own), file, found?.kind === 'file' ? found.content : undefined)
  })
  await git.run('checkout', '--quiet', '--force')
  await git.run('clean', '-ffdxq')
  if (theirs.length === 0) return
  const who = await git.run('log', '-1', '--format=%cn', commit)
  throw new UserError(`\`${name}\` was changed by ${who} after devctl pushed it, and would be overwritten`, {
    notes: theirs.slice(0, 10).map(({ path, isThere }) => `\`${path}\`${isThere ? '' : ' was removed'}`),
    hint: HINT,
  })
}

const depthOf = (path: string): number => (path === '.' ? 0 : path.split('/').length)

/** True if a lock records a file with this content, or records no such file if the file does not exist. */
function isRecorded(lock: Lock | undefined, file: string, content: string | undefined): boolean {
  if (content === undefined) return !lock?.files.has(file)
  const found = fingerprint(file, content)
  // Earlier versions committed locks that list restored files as pending only.
  return lock?.files.get(file) === found || lock?.pending.get(file) === found
}

/**
 * Returns the lock that the branch of the pull request has in a folder. A damaged lock is treated as missing, because
 * the branch is rewritten.
 */
export async function requestLock({ git, requestHead }: WorkingCopy, path: string): Promise<Lock | undefined> {
  return requestHead === undefined ? undefined : lockAt(git, requestHead, path)
}

/** Returns the text of a file on the branch of the pull request; undefined if the file does not exist. */
export async function requestFile({ git, requestHead }: WorkingCopy, path: string): Promise<string | undefined> {
  const text = requestHead === undefined ? undefined : await textAt(git, requestHead, path)
  return text === undefined ? undefined : `${text}\n`
}

/** Returns the text of a file in a commit, without the last line end; undefined if the commit lacks the file. */
async function textAt(git: Git, commit: string, path: string): Promise<string | undefined> {
  // The clone has all trees, but the content of a file may have to be fetched, and a connection may break.
  const entry = await git.run('ls-tree', '-z', commit, '--', literal(path))
  return entry === '' ? undefined : git.run('show', `${commit}:${path}`)
}

async function lockAt(git: Git, commit: string, path: string): Promise<Lock | undefined> {
  const file = path === '.' ? LOCK_NAME : `${path}/${LOCK_NAME}`
  const text = await textAt(git, commit, file)
  if (text === undefined) return undefined
  try {
    return parseLock(text, file)
  } catch (error) {
    if (error instanceof UserError) return undefined
    throw error
  }
}

/**
 * True if the branch of the pull request can be merged and already has the content that was just written to `paths`.
 * Compares only files in `folders`. Ignores locks: they name the source commit, and a new source commit alone is no
 * reason to rewrite the request.
 */
export async function isOnRequest(
  checkout: WorkingCopy,
  { commit, isOnBase }: RequestBranch,
  folders: readonly string[],
  paths: readonly string[],
): Promise<boolean> {
  if (!isOnBase) return false
  const { git } = checkout
  await stage(checkout, paths)
  const differing = await git.run('diff', '--cached', '--name-only', '-z', commit, '--', ...folders.map(literal))
  // A staged removal is in neither the folder nor the index, so the commit could not add its path again.
  await git.run('reset', '--quiet')
  return differing.split('\0').every(path => path === '' || path === LOCK_NAME || path.endsWith(`/${LOCK_NAME}`))
}

/**
 * Deletes the branch of a pull request that is no longer wanted. Forges then close the request; if it stayed open,
 * merging it would restore old content. Returns false if the server rejects the deletion. Throws a GitFailure if the
 * branch has moved since it was read.
 */
export async function removeRequestBranch({ git }: WorkingCopy, { name, commit }: RequestBranch): Promise<boolean> {
  try {
    await git.run('push', '--quiet', `--force-with-lease=refs/heads/${name}:${commit}`, 'origin', `:refs/heads/${name}`)
    return true
  } catch (error) {
    if (!(error instanceof GitFailure) || classify(error.said) !== 'refused') throw error
    return false
  }
}
