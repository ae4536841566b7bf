import { splitCredentials, withCredentials } from './address-credentials.ts'
import type { Git, GitOptions } from './git.ts'
import { withSettings } from './git-configuration.ts'

/** The server that a repository of the user came from. */
export interface SourceRemote {
  /** Without credentials, as the repository has it: what the user's configuration makes of it is for git to do. */
  readonly url: string
  /** An environment in which git gets there from a repository elsewhere. */
  readonly env: GitOptions['env']
}

/** The remote `origin`, else the first one; undefined where there is none. What the repository itself says of the way there counts: a pipeline keeps its credentials in it. */
export async function sourceRemote(git: Git, env: GitOptions['env']): Promise<SourceRemote | undefined> {
  const names = (await git.ask('remote'))?.split('\n') ?? []
  const name = names.includes('origin') ? 'origin' : names[0]
  // Not `remote get-url`: it rewrites by `insteadOf`, which may put a token into the address.
  const address = name ? await git.ask('config', '--get', `remote.${name}.url`) : undefined
  if (address === undefined) return undefined
  const { url, credentials } = splitCredentials(address)
  return { url, env: withSettings(withCredentials(env, credentials), await ownSettings(git)) }
}

async function ownSettings(git: Git): Promise<readonly (readonly [string, string])[]> {
  const pattern = '^(http|credential|url)\\.|^core\\.sshcommand$'
  const said = await git.ask('config', '--local', '--includes', '--null', '--get-regexp', pattern)
  return (said ?? '')
    .split('\0')
    .filter(line => line.includes('\n'))
    .map(line => [line.slice(0, line.indexOf('\n')), line.slice(line.indexOf('\n') + 1)] as const)
}
