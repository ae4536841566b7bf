import type { GitOptions } from './git.ts'
import { withSettings } from './git-configuration.ts'

/** What an address of the web says of who comes. */
export interface Credentials {
  /** `https://git.example.com`: where they are sent to, and nowhere else. */
  readonly origin: string
  readonly user: string
  readonly password?: string
}

/** Takes the user and the password out of an address of the web; every other address stays as it is. */
export function splitCredentials(address: string): { readonly url: string; readonly credentials?: Credentials } {
  const url = /^https?:/i.test(address) && URL.canParse(address) ? new URL(address) : undefined
  if (!url || (url.username === '' && url.password === '')) return { url: address }
  const [user, password] = [url.username, url.password].map(unescaped) as [string, string] // map keeps the length
  const bare = address.replace(/^([a-z]+:\/\/)[^@/?#]*@/i, '$1')
  return { url: bare, credentials: { origin: url.origin, user, ...(password !== '' && { password }) } }
}

/**
 * An environment in which git knows the credentials that an address had. In the address they would be in the configuration of each copy and on the command line of
 * git's own helpers, where others can read them; like those of an address they go before what the user's credential helpers know.
 */
export function withCredentials(env: GitOptions['env'], credentials: Credentials | undefined): GitOptions['env'] {
  if (!credentials) return env
  const { origin, user, password } = credentials
  if (password === undefined) return withSettings(env, [[`credential.${origin}.username`, user]])
  const helper =
    '!f() { test "$1" = get && printf "username=%s\\npassword=%s\\n" "$DEVCTL_ADDRESS_USER" "$DEVCTL_ADDRESS_PASSWORD"; }; f'
  const known = { ...env, DEVCTL_ADDRESS_USER: user, DEVCTL_ADDRESS_PASSWORD: password }
  return withSettings(known, [
    // An empty one takes those before it off the list.
    [`credential.${origin}.helper`, ''],
    [`credential.${origin}.helper`, helper],
  ])
}

/** What is no escape stays as it is, as in git. */
const unescaped = (text: string): string =>
  text.replaceAll(/(?:%[\da-f]{2})+/gi, found => Buffer.from(found.replaceAll('%', ''), 'hex').toString())
