import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { GitFailure, type GitOptions, openGit } from '../../adapters/git/git.ts'
import { sourceRemote } from '../../adapters/git/source-remote.ts'
import { readParts } from '../../adapters/git/source-repository.ts'
import { withTemporary } from '../../adapters/git/temporary.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'

/**
 * Calls `work` with the top folder of a temporary clone that contains the files of a commit of the repository around
 * `folder`. The clone shares the repository's objects; the user's files stay unchanged. Throws a UserError for a commit
 * that neither the repository nor its remote has.
 */
export async function withSourceAt<Result>(
  folder: string,
  commit: string,
  { env, signal }: GitOptions,
  work: (top: string) => Promise<Result>,
): Promise<Result> {
  const parts = await readParts(folder, { env, signal })
  const remote = await sourceRemote(openGit(folder, { env, signal }), env)
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
      await git.run('checkout', '--quiet', '--detach', commit)
    } catch (error) {
      if (!(error instanceof GitFailure)) throw error
      throw new UserError(`the source commit ${commit.slice(0, 7)} cannot be fetched`, {
        notes: [error.said.split('\n')[0] ?? ''],
        hint: 'run it in a full clone of the repository that was published',
        cause: error,
      })
    }
    return work(clone)
  })
}
