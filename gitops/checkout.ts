import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { UserError } from '../compiler/diagnostics/user-error.ts'
import type { Address } from './address.ts'
import { type Git, GitFailure, type GitOptions, openGit } from './git.ts'
import { LOCK_NAME } from './tree/lock.ts'

/** What is looked at and written in a repository. */
export interface Target {
  readonly address: Address
  /** Absent: the main branch of the repository. */
  readonly branch?: string
  /** The folders that are written, with `/`; `.` is the whole repository. Of everything else only the lock files are fetched. */
  readonly paths: readonly string[]
  /** A second branch that is made from the first one, for a pull request. */
  readonly request?: string
}

/** A shallow and sparse copy of one branch, of which there is just the newest commit. */
export interface Checkout {
  readonly folder: string
  readonly git: Git
  /** The branch that is checked out. */
  readonly branch: string
  /** The commit that is checked out; undefined where the branch has none yet. */
  readonly head: string | undefined
  /** The commit that the branch for a pull request has. */
  readonly requestHead: string | undefined
}

const BRANCH = 'refs/remotes/origin/devctl-target'
const REQUEST = 'refs/remotes/origin/devctl-request'

/**
 * Makes a repository in an empty folder that is ready for `refresh`. Not by `git clone`, which wants the branch to be there; the user's templates and
 * configuration count all the same.
 */
export async function prepareCheckout(folder: string, target: Target, options: GitOptions): Promise<Git> {
  const git = await openGit(folder, options)
  await git.run('init', '--quiet', '.')
  // One write in place of a process for each setting.
  appendFileSync(join(folder, '.git/config'), configuration(target.address.url))
  mkdirSync(join(folder, '.git/info'), { recursive: true })
  writeFileSync(join(folder, '.git/info/sparse-checkout'), sparsePatterns(target.paths))
  return git
}

/** Of the copy that nobody looks at again: no work in the background that would outlive us. */
function configuration(address: string): string {
  const quoted = `"${address.replaceAll(/["\\]/g, '\\$&')}"`
  return `[core]\n\tsparseCheckout = true\n[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n[remote "origin"]\n\turl = ${quoted}\n`
}

/** The lock files of all applications, for they are compared (decisions section 8), and all of our own folders. */
function sparsePatterns(paths: readonly string[]): string {
  const own = paths.map(path => (path === '.' ? '/*' : `/${path.replaceAll(/[\\*?[\]!#]/g, '\\$&')}/`))
  return `${[LOCK_NAME, '.gitattributes', ...own].join('\n')}\n`
}

/** Fetches the newest commit and checks it out, whatever was there. Throws a GitFailure, and a UserError for a repository whose main branch cannot be told. */
export async function refresh(folder: string, git: Git, target: Target): Promise<Checkout> {
  const branch = target.branch ?? (await mainBranch(git))
  const head = await fetchBranch(git, branch, target.request)
  const requestHead =
    target.request === undefined ? undefined : await git.ask('rev-parse', '--quiet', '--verify', REQUEST)
  if (head === undefined) {
    await git.run('symbolic-ref', 'HEAD', `refs/heads/${branch}`)
    await git.ask('rm', '-rfq', '--cached', '--ignore-unmatch', '.')
  } else await git.run('checkout', '--quiet', '--force', '-B', branch, '--no-track', BRANCH)
  await git.run('clean', '-ffdxq')
  return { folder, git, branch, head, requestHead }
}

async function fetchBranch(git: Git, branch: string, request: string | undefined): Promise<string | undefined> {
  const base = [
    'fetch',
    '--quiet',
    '--no-tags',
    '--depth=1',
    '--filter=blob:none',
    '--no-recurse-submodules',
    '--prune',
    'origin',
  ]
  // A pattern may match nothing, a name may not: so a branch that is not there yet is no failure.
  const second = request === undefined ? [] : [`+refs/heads/${request}*:${REQUEST}*`]
  try {
    await git.run(...base, `+refs/heads/${branch}:${BRANCH}`, ...second)
  } catch (error) {
    if (!(error instanceof GitFailure) || !/couldn't find remote ref/.test(error.said)) throw error
    return undefined
  }
  return git.run('rev-parse', BRANCH)
}

async function mainBranch(git: Git): Promise<string> {
  const said = await git.run('ls-remote', '--symref', 'origin', 'HEAD')
  const found = /^ref: refs\/heads\/(\S+)\tHEAD$/m.exec(said)?.[1]
  if (found !== undefined) return found
  if (said === '') return (await git.ask('config', 'init.defaultBranch')) || 'main'
  throw new UserError('the main branch of the repository cannot be told', { hint: 'name it with `--branch`' })
}
