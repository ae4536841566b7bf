import { openGit } from '../../adapters/git/git.ts'
import type { Io } from '../terminal/io.ts'
import type { Suggestion } from './completion.ts'

const DEADLINE = 500
const MOST = 1000

/**
 * Returns the branches and tags of the checkout in the current folder, and the branches of its remote `origin`. Reads
 * no git objects, because git might have to fetch them.
 */
export async function branches({ cwd, env }: Pick<Io, 'cwd' | 'env'>): Promise<readonly Suggestion[]> {
  const git = openGit(cwd, { env, signal: AbortSignal.timeout(DEADLINE) })
  const folders = ['refs/heads', 'refs/remotes/origin', 'refs/tags']
  const found = await git.ask('for-each-ref', `--count=${MOST}`, '--format=%(refname)', ...folders)
  const names = new Map<string, string>()
  for (const ref of (found ?? '').split('\n')) {
    const [, folder, name] = /^refs\/(heads|remotes\/origin|tags)\/(.+)$/.exec(ref) ?? []
    if (folder && name && name !== 'HEAD' && !names.has(name)) names.set(name, DESCRIPTIONS[folder] ?? '')
  }
  return [...names].map(([value, description]) => ({ value, description }))
}

const DESCRIPTIONS: Readonly<Record<string, string>> = {
  heads: 'branch',
  'remotes/origin': 'branch of origin',
  tags: 'tag',
}
