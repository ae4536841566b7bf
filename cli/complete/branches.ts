import { openGit } from '../../adapters/git/git.ts'
import type { Io } from '../terminal/io.ts'
import type { Candidate } from './completion.ts'

const DEADLINE = 500
const MOST = 500

/** Returns the branches of the checkout in the current folder and of its remote `origin`, the latest first. */
export async function branches({ cwd, env }: Pick<Io, 'cwd' | 'env'>): Promise<readonly Candidate[]> {
  const git = openGit(cwd, { env, signal: AbortSignal.timeout(DEADLINE) })
  const words = ['--sort=-committerdate', `--count=${MOST}`, '--format=%(refname)']
  const found = await git.ask('for-each-ref', ...words, 'refs/heads', 'refs/remotes/origin')
  const names = (found ?? '').split('\n').map(ref => ref.replace(/^refs\/(?:heads|remotes\/origin)\//, ''))
  return [...new Set(names)].filter(name => name !== '' && name !== 'HEAD').map(value => ({ value }))
}
