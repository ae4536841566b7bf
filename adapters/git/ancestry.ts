import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { withTimeLimit } from '../process/time-limit.ts'
import { type Git, GitFailure, type GitOptions, openGit } from './git.ts'
import { sourceRemote } from './source-remote.ts'
import { withSource } from './source-repository.ts'
import { withTemporary } from './temporary.ts'

/** Timeout for fetching history from the source's server, in milliseconds. */
const DEADLINE = 60_000

/**
 * Returns true if a commit of the repository around `folder` is an ancestor of another one. If the clone is too shallow
 * to determine this, as in a pipeline, fetches the history (only commits) from the remote into a temporary repository;
 * does not change the user's repository. Undefined if the result cannot be determined.
 */
export async function isAncestor(
  older: string,
  newer: string,
  folder: string,
  { env, signal }: GitOptions,
): Promise<boolean | undefined> {
  const limited = withTimeLimit(DEADLINE, signal)
  const options = { env, signal: limited }
  try {
    const known = await withSource(folder, options, git => ask(git, older, newer))
    if (known !== undefined) return known
    const remote = await sourceRemote(openGit(folder, options), env)
    if (remote === undefined) return undefined
    return await withTemporary(env, async temporary => {
      const other = openGit(temporary, { ...options, ...remote.options })
      await other.run('init', '--quiet', '--bare', '.')
      appendFileSync(join(temporary, 'config'), remote.configuration)
      await other.run('remote', 'add', 'origin', remote.url)
      const fetched = await other.ask('fetch', '--quiet', '--no-tags', '--filter=tree:0', 'origin', older, newer)
      return fetched === undefined ? undefined : ask(other, older, newer)
    })
  } catch (error) {
    signal.throwIfAborted()
    if (limited.aborted) return undefined
    throw error
  }
}

/**
 * Returns true if `older` is an ancestor of `newer`; undefined if the repository cannot determine this. In a shallow
 * history, only a positive result is reliable, because the history is truncated. A complete history contains all
 * ancestors, so a commit that is missing in it is not an ancestor.
 */
async function ask(git: Git, older: string, newer: string): Promise<boolean | undefined> {
  try {
    await git.run('merge-base', '--is-ancestor', older, newer)
    return true
  } catch (error) {
    if (!(error instanceof GitFailure)) throw error
    // Status 1 means no; any other status means that a commit is missing in this repository.
    if (error.status !== 1 && !(await hasOnly(git, newer, older))) return undefined
  }
  return (await git.ask('rev-parse', '--is-shallow-repository')) === 'true' ? undefined : false
}

async function hasOnly(git: Git, known: string, other: string): Promise<boolean> {
  const has = async (commit: string) => (await git.ask('cat-file', '-e', `${commit}^{commit}`)) !== undefined
  return (await has(known)) && !(await has(other))
}
