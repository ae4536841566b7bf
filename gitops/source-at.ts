import { UserError } from '../compiler/diagnostics/user-error.ts'
import { GitFailure, type GitOptions, openGit } from './git.ts'
import { sourceRemote } from './source-remote.ts'
import { withTemporary } from './temporary.ts'

/**
 * Does work with the files of the repository around `folder` as a commit has them: in a temporary clone that borrows its objects, so that the user's own files stay as they are.
 * The work gets the clone's top folder. Throws a UserError for a commit that neither the repository nor its remote has.
 */
export async function withSourceAt<Result>(
  folder: string,
  commit: string,
  { env, signal }: GitOptions,
  work: (top: string) => Promise<Result>,
): Promise<Result> {
  const own = openGit(folder, { env, signal })
  const top = await own.run('rev-parse', '--show-toplevel')
  const remote = await sourceRemote(own, env)
  return withTemporary(env, async clone => {
    const git = openGit(clone, { env: remote?.env ?? env, signal })
    await git.run('clone', '--quiet', '--shared', '--no-checkout', '--', top, '.')
    if (remote === undefined) await git.run('remote', 'remove', 'origin')
    else await git.run('remote', 'set-url', 'origin', remote.url)
    try {
      if ((await git.ask('cat-file', '-e', `${commit}^{commit}`)) === undefined)
        await git.run('fetch', '--quiet', '--no-tags', 'origin', commit)
      await git.run('checkout', '--quiet', '--detach', commit)
    } catch (error) {
      if (!(error instanceof GitFailure)) throw error
      throw new UserError(`the commit ${commit.slice(0, 7)} of the source cannot be had`, {
        notes: [error.said.split('\n')[0] ?? ''],
        hint: 'run it in a checkout of the repository that was published from, with its whole history',
        cause: error,
      })
    }
    return work(clone)
  })
}
