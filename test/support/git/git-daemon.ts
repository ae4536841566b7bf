import { basename, dirname } from 'node:path'
import { gitEnv } from './git.ts'
import { type Faulty, inetd } from './inetd.ts'
import type { GitServer } from './repository.ts'

/**
 * Serves a bare repository by `git daemon`, which knows no users: every client may fetch and, unless it is `readOnly`,
 * push.
 */
export async function gitDaemon(
  repository: string,
  { readOnly = false, ...faulty }: { readonly readOnly?: boolean } & Faulty = {},
): Promise<GitServer> {
  const push = readOnly ? '--disable=receive-pack' : '--enable=receive-pack'
  const args = ['daemon', '--inetd', '--export-all', push, `--base-path=${dirname(repository)}`]
  const { port, close } = await inetd('git', args, { env: gitEnv(), ...faulty })
  return { address: `git://127.0.0.1:${port}/${basename(repository)}`, repository, env: {}, close }
}
