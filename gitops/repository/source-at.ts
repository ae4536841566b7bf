import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Git, GitFailure, type GitOptions, openGit } from '../../adapters/git/git.ts'
import { sourceRemote } from '../../adapters/git/source-remote.ts'
import { readParts } from '../../adapters/git/source-repository.ts'
import { withTemporary } from '../../adapters/git/temporary.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { inParts } from '../../compiler/values/in-parts.ts'
import { MOST_PATHS } from './source.ts'

/** Files of a commit, in a temporary clone. Paths are relative to `top`, with `/`. */
export interface SourceAt {
  /** Top folder of the clone. */
  readonly top: string
  /** Submodules. The clone has empty folders in their place. */
  readonly submodules: readonly string[]
  /**
   * Files that a filter of the repository's own configuration would change (git-crypt, `git lfs install --local`), each
   * with the name of the filter. The clone has them as the commit stores them.
   */
  readonly unfiltered: ReadonlyMap<string, string>
}

/**
 * Calls `work` with the files of a commit of the repository around `folder`. The clone shares the repository's objects,
 * and fetches those that a partial clone lacks; the user's files stay unchanged. Throws a UserError for a commit that
 * neither the repository nor its remote has completely.
 */
export async function withSourceAt<Result>(
  folder: string,
  commit: string,
  { env, signal }: GitOptions,
  work: (source: SourceAt) => Promise<Result>,
): Promise<Result> {
  const parts = await readParts(folder, { env, signal })
  const own = openGit(folder, { env, signal })
  const remote = await sourceRemote(own, env)
  return withTemporary(env, async clone => {
    const git = openGit(clone, { ...(remote?.options ?? { env }), signal })
    await git.run('init', '--quiet', `--object-format=${parts?.format ?? 'sha1'}`, '.')
    parts?.copyTo(join(clone, '.git'))
    if (remote !== undefined) {
      appendFileSync(join(clone, '.git/config'), remote.configuration)
      await git.run('remote', 'add', 'origin', remote.url)
    }
    try {
      if ((await git.ask('cat-file', '-e', `${commit}^{commit}`)) === undefined)
        await git.run('fetch', '--quiet', '--no-tags', 'origin', commit)
      // Makes git fetch each object that neither the clone nor the repository has.
      if (remote !== undefined) await git.run('config', 'remote.origin.promisor', 'true')
      await git.run('checkout', '--quiet', '--detach', commit)
      await requireComplete(git)
    } catch (error) {
      if (!(error instanceof GitFailure)) throw error
      throw new UserError(`the source commit ${commit.slice(0, 7)} cannot be fetched`, {
        notes: [error.said.split('\n')[0] ?? ''],
        hint: 'run it in a full clone of the repository that was published',
        cause: error,
      })
    }
    const [submodules, unfiltered] = [await submodulesIn(git), await unfilteredIn(git, own)]
    return work({ top: clone, submodules, unfiltered })
  })
}

/** Throws a GitFailure if a checkout lacks files: git only prints that it cannot read their objects, and goes on. */
async function requireComplete(git: Git): Promise<void> {
  const [lacking] = (await git.run('ls-files', '--deleted', '-z')).split('\0')
  if (lacking) await git.run('cat-file', '-e', `HEAD:${lacking}`)
}

async function submodulesIn(git: Git): Promise<readonly string[]> {
  const entries = (await git.run('ls-files', '--stage', '-z')).split('\0')
  return entries.flatMap(entry => /^160000 .*?\t(.*)$/s.exec(entry)?.[1] ?? [])
}

/** Returns the files with a filter that the user's repository (`own`) configures, and the clone does not. */
async function unfilteredIn(git: Git, own: Git): Promise<ReadonlyMap<string, string>> {
  const there = new Set(await filtersOf(git))
  const lacking = new Set((await filtersOf(own)).filter(name => !there.has(name)))
  if (lacking.size === 0) return new Map()
  const paths = (await git.run('ls-files', '-z', '--', ':(exclude,attr:!filter)'))
    .split('\0')
    .filter(path => path !== '')
  const told = await Promise.all(
    inParts(paths, MOST_PATHS).map(part => git.run('check-attr', '-z', 'filter', '--', ...part)),
  )
  const words = told.flatMap(text => text.split('\0').slice(0, -1))
  // Each file is told as three words: path, `filter`, name.
  const filters = words.flatMap((word, at) => (at % 3 === 2 ? [[words[at - 2]!, word] as const] : []))
  return new Map(filters.filter(([, name]) => lacking.has(name)))
}

/** Returns the names of the filters that git runs at a checkout. */
async function filtersOf(git: Git): Promise<readonly string[]> {
  const said = await git.ask('config', '--null', '--name-only', '--get-regexp', '^filter\\..*\\.(smudge|process)$')
  return (said ?? '').split('\0').flatMap(name => /^filter\.(.*)\.\w+$/s.exec(name)?.[1] ?? [])
}
