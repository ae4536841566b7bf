import { appendFileSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Address } from '../../adapters/git/address.ts'
import { type Git, GitFailure } from '../../adapters/git/git.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { LOCK_NAME } from '../../project/lock.ts'
import { SOPS_CONFIG } from '../encryption/sops/config-name.ts'
import { noteName } from './note-name.ts'

/** Parts of a repository that are read and written. */
export interface PushTarget {
  readonly address: Address
  /** Branch to read and write. If absent, the main branch of the repository. */
  readonly branch?: string
  /**
   * Folders that are written, with `/`; `.` is the full repository. Outside these folders, only lock files are fetched.
   */
  readonly paths: readonly string[]
  /** Second branch, created from the first one, for a pull request. */
  readonly request?: string
}

/** A shallow and sparse clone of one branch that contains only the newest commit. */
export interface WorkingCopy {
  readonly folder: string
  readonly git: Git
  /** Branch that is checked out. */
  readonly branch: string
  /** Commit that is checked out; undefined if the branch has no commit yet. */
  readonly head: string | undefined
  /** Newest commit of the pull-request branch; undefined if this branch does not exist or is not used. */
  readonly requestHead: string | undefined
  /**
   * True if the note (`newest-source.ts`) of the first folder was fetched together with the branch; the note itself may
   * not exist.
   */
  readonly hasNote: boolean
}

/** Result of a fetch. */
export interface FetchedBranch {
  readonly branch: string
  /** Newest commit of the branch; undefined if the branch has no commit yet. */
  readonly head: string | undefined
  /** True if the fetch included the note of the first folder; the note itself may not exist. */
  readonly hasNote?: boolean
}

/** Local ref to which the note about the newest source of a folder is fetched (`newest-source.ts`). */
export const NOTE = 'refs/remotes/origin/devctl-note'
const BRANCH = 'refs/remotes/origin/devctl-target'
const REQUEST = 'refs/remotes/origin/devctl-request'
/** Options that fetch one commit, and only those of its files that are read. */
const LITTLE = ['--quiet', '--no-tags', '--depth=1', '--filter=blob:none', '--no-recurse-submodules']

/**
 * Clones a target's branch into a folder, without checking out files. Runs as one process, so that a busy caller does
 * not delay the clone. If the branch does not exist, clones the main branch instead; a later push creates the branch.
 * `isMissing` is true if the server has just reported that the branch does not exist. Throws a GitFailure. Throws a
 * UserError if the main branch of the repository cannot be determined, and if git is not installed.
 */
export async function clone(
  folder: string,
  git: Git,
  target: Pick<PushTarget, 'address' | 'branch'>,
  isMissing = false,
): Promise<FetchedBranch> {
  // Removes files left by an interrupted attempt.
  for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true })
  try {
    // Without the branch, clones the main branch, so that the new branch uses the same hash algorithm.
    await git.run('clone', ...cloneWords(isMissing ? {} : target), '--', target.address.url, '.')
  } catch (error) {
    if (!(error instanceof GitFailure)) throw error
    if (error.status === -1 && /ENOENT/.test(error.said))
      throw new UserError('`git` is not installed, or not on the PATH', {
        hint: 'install it: https://git-scm.com',
        cause: error,
      })
    if (isMissing || !isBranchMissing(error)) throw error
    return clone(folder, git, target, true)
  }
  const branch = target.branch ?? (await git.ask('symbolic-ref', '--quiet', '--short', 'HEAD'))
  if (branch === undefined)
    throw new UserError('the default branch of the repository cannot be determined', {
      hint: 'name it with `--branch`',
    })
  return { branch, head: await commitOf(git, `refs/remotes/origin/${branch}`) }
}

/** Returns true if a clone failed because the server does not have the branch. */
export const isBranchMissing = (error: GitFailure): boolean => /Remote branch .* not found/.test(error.said)

const cloneWords = ({ branch }: Pick<PushTarget, 'branch'>): readonly string[] => [
  ...LITTLE,
  // The clone is useless after a power failure, and fsync takes half of the time. This setting does not affect the
  // repository that is pushed to.
  '--config=core.fsync=none',
  '--no-checkout',
  '--single-branch',
  '--origin=origin',
  ...(branch === undefined ? [] : [`--branch=${branch}`]),
]

/**
 * Clones a target's branch with the files of the target's folders. Runs as one process, so that a busy caller does not
 * delay the clone; the script is for git's own shell, which every git installation includes. Leaves the handling of
 * failures, such as a missing branch, to `clone`. Throws a GitFailure.
 */
export async function cloneWithFiles(
  folder: string,
  git: Git,
  target: Pick<PushTarget, 'address' | 'branch' | 'paths'>,
): Promise<WorkingCopy> {
  const prepared = join(folder, '..', 'settings')
  settle(prepared, target)
  // If the current folder is inside a repository, aliases run in its top folder, so no path here may be relative.
  const script = `!f() { unset GIT_DIR GIT_WORK_TREE GIT_PREFIX; at=$1; settings=$2; shift 2; ${STEPS.join(' && ')}; }; f`
  const words = [folder, prepared, ...cloneWords(target), '--', target.address.url, folder]
  const said = await git.run('-c', `alias.devctl-copy=${script}`, 'devctl-copy', ...words)
  const [branch = '', head] = said.split('\n')
  return { folder, git, branch, head: head || undefined, requestHead: undefined, hasNote: false }
}

const STEPS = [
  'git clone "$@"',
  'cat "$settings/.git/config" >>"$at/.git/config"',
  'mkdir -p "$at/.git/info"',
  'cp "$settings/.git/info/sparse-checkout" "$settings/.git/info/attributes" "$at/.git/info/"',
  // The only branch of the clone, and its commit. A repository without a commit has none, and nothing to check out.
  'found=$(git -C "$at" for-each-ref --format="%(refname:lstrip=2)%0a%(objectname)" refs/heads)',
  'if [ -z "$found" ]; then git -C "$at" symbolic-ref --short HEAD; return; fi',
  'printf "%s\\n" "$found"',
  'git -C "$at" checkout --quiet --force',
]

/** Configures a clone before its files are checked out. */
export function settle(folder: string, { paths }: Pick<PushTarget, 'paths'>): void {
  mkdirSync(join(folder, '.git/info'), { recursive: true })
  // A single write replaces one process per setting.
  appendFileSync(join(folder, '.git/config'), CONFIGURATION)
  writeFileSync(join(folder, '.git/info/sparse-checkout'), sparsePatterns(paths))
  // The lock's hashes are computed from bytes, so the line-ending settings of the repository or the user must not
  // change them.
  writeFileSync(join(folder, '.git/info/attributes'), '* -text -ident -working-tree-encoding\n')
}

/** Settings of the temporary clone: no background tasks that would outlive this process. */
const CONFIGURATION = '[core]\n\tsparseCheckout = true\n[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n'

/**
 * Returns the sparse-checkout patterns: the lock files of all applications (because they are compared), the rules for
 * SOPS, `.gitattributes`, and the full content of the folders in `paths`.
 */
function sparsePatterns(paths: readonly string[]): string {
  const own = paths.map(path => (path === '.' ? '/*' : `/${path.replaceAll(/[\\*?[\]!#]/g, '\\$&')}/`))
  return `${[LOCK_NAME, SOPS_CONFIG, '.gitattributes', ...own].join('\n')}\n`
}

/**
 * Fetches the newest commit of the branch, and the newest commit of the pull-request branch. If the target has no
 * pull-request branch, fetches the note about the newest source of the first folder instead. Throws a GitFailure.
 */
export async function fetchAgain(
  git: Git,
  branch: string,
  { request, paths }: Pick<PushTarget, 'request' | 'paths'>,
): Promise<FetchedBranch> {
  const hasNote = request === undefined
  // A missing branch is an error for a name, but not for a pattern, which may match nothing.
  const note = noteName(paths[0] ?? '.', branch)
  const second = hasNote ? noteSpec(note) : `+refs/heads/${request}*:${REQUEST}*`
  try {
    await git.run('fetch', ...LITTLE, '--prune', 'origin', `+refs/heads/${branch}:${BRANCH}`, second)
  } catch (error) {
    if (!(error instanceof GitFailure) || !/couldn't find remote ref/.test(error.said)) throw error
    // The note of a deleted branch stays on the server.
    if (hasNote) await fetchNote(git, note)
    return { branch, head: undefined, hasNote }
  }
  return { branch, head: await git.run('rev-parse', BRANCH), hasNote }
}

/** Fetches the note with the ref `name`, if it exists. Throws a GitFailure. */
export async function fetchNote(git: Git, name: string): Promise<void> {
  await git.run('fetch', ...LITTLE, '--prune', 'origin', noteSpec(name))
}

const noteSpec = (name: string) => `+${name}*:${NOTE}*`

/**
 * Checks out the fetched commit, replacing an earlier checkout; `isFirst` is true if there was none. Throws a
 * GitFailure.
 */
export async function checkOut(
  folder: string,
  git: Git,
  { request }: Pick<PushTarget, 'request'>,
  { branch, head, hasNote = false }: FetchedBranch,
  isFirst: boolean,
): Promise<WorkingCopy> {
  // Starting a process costs more than its work, so running processes concurrently halves the time.
  const asked = request === undefined ? undefined : commitOf(git, REQUEST)
  if (head !== undefined) await git.run('checkout', '--quiet', '--force', '-B', branch, '--no-track', head)
  else {
    await git.run('symbolic-ref', 'HEAD', `refs/heads/${branch}`)
    if (!isFirst) {
      // Removes the commit that could not be pushed.
      await git.ask('update-ref', '-d', `refs/heads/${branch}`)
      await git.ask('rm', '-rfq', '--cached', '--ignore-unmatch', '.')
    }
  }
  // Removes files left by a failed commit.
  if (!isFirst) await git.run('clean', '-ffdxq')
  return { folder, git, branch, head, requestHead: await asked, hasNote }
}

const commitOf = (git: Git, ref: string) => git.ask('rev-parse', '--quiet', '--verify', ref)

/** Stages the files at `paths`, even if the repository or the user ignores them, and even if they were removed. */
export async function stage({ folder, git }: WorkingCopy, paths: readonly string[]): Promise<void> {
  // Passed in a file, because a command line has no room for thousands of names.
  const list = join(folder, '.git/devctl-paths')
  writeFileSync(list, paths.map(path => `${literal(path)}\0`).join(''))
  await git.run('add', '--all', '--force', '--sparse', `--pathspec-from-file=${list}`, '--pathspec-file-nul')
}

/** Returns a pathspec for a path that may contain characters with a meaning for git, such as `:` and `*`. */
export const literal = (path: string): string => `:(literal)${path}`
