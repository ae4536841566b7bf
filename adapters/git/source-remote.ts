import { loginOf, splitCredentials, withUser } from './address-credentials.ts'
import type { Git, GitOptions } from './git.ts'

/** The server that the user's repository was cloned from. */
export interface SourceRemote {
  /** Address in the repository's configuration, without credentials: git applies the user's configuration to it. */
  readonly url: string
  /** Environment and logins for git in another repository that connects to this server. */
  readonly options: Pick<GitOptions, 'env' | 'logins'>
  /** Lines for the configuration of another repository that connects to this server. */
  readonly configuration: string
}

/**
 * Returns the remote `origin`, or the first remote if there is no `origin`; undefined if there is no remote or its
 * address is unsafe. `configuration` contains only the HTTP headers for the remote's server, because pipelines store
 * their credentials there. All other connection settings of the repository are omitted, because they may name a program
 * to run.
 */
export async function sourceRemote(git: Git, env: GitOptions['env']): Promise<SourceRemote | undefined> {
  const names = (await git.ask('remote'))?.split('\n') ?? []
  const name = names.includes('origin') ? 'origin' : names[0]
  // `remote get-url` is not used because it applies `insteadOf`, which may put a token into the address.
  const address = name ? await git.ask('config', '--get', `remote.${name}.url`) : undefined
  if (address === undefined || !isSafe(address)) return undefined
  const { url, credentials } = splitCredentials(address)
  const options = { env: withUser(env, credentials), logins: loginOf(credentials) }
  return { url, options, configuration: await headers(git, url) }
}

/** Returns false for `ext::` and similar protocols, and for an address that git would read as an option. */
const isSafe = (address: string) => !address.startsWith('-') && !/^[a-z][a-z0-9+.-]*::/i.test(address)

async function headers(git: Git, url: string): Promise<string> {
  if (!/^https?:/i.test(url) || !URL.canParse(url)) return ''
  const said = await git.ask('config', '--local', '--includes', '--null', '--get-regexp', '^http\\..*\\.extraheader$')
  return (said ?? '')
    .split('\0')
    .flatMap(line => {
      const [, prefix, header] = /^http\.(.*)\.extraheader\n(.*)$/i.exec(line) ?? []
      const isForIt = prefix !== undefined && URL.canParse(prefix) && new URL(prefix).origin === new URL(url).origin
      return isForIt ? [`[http ${quoted(prefix)}]\n\textraheader = ${quoted(header!)}\n`] : []
    })
    .join('')
}

const quoted = (text: string) => `"${text.replace(/["\\]/g, '\\$&')}"`
