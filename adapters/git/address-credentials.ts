import type { GitOptions } from './git.ts'
import { withSettings } from './git-configuration.ts'
import { type GitLogin, isOneLine } from './login.ts'

/** The credentials in a web address. */
export interface AddressCredentials {
  /** The only origin that the credentials are sent to: `https://git.example.com`. */
  readonly origin: string
  readonly user: string
  readonly password?: string
}

/** Splits the user and the password off a web address; returns every other address unchanged. */
export function splitCredentials(address: string): { readonly url: string; readonly credentials?: AddressCredentials } {
  const url = /^https?:/i.test(address) && URL.canParse(address) ? new URL(address) : undefined
  if (!url || (url.username === '' && url.password === '')) return { url: address }
  const [user, password] = [url.username, url.password].map(unescaped) as [string, string] // map keeps the length
  const bare = address.replace(/^([a-z]+:\/\/)[^/?#]*@/i, '$1')
  return { url: bare, credentials: { origin: url.origin, user, ...(password !== '' && { password }) } }
}

/**
 * Returns a list with the login in the credentials of an address; empty if they contain no password, or one that git
 * cannot read. The login is kept out of the address, because git would store it in the configuration of each clone and
 * show it on the command line of its own helpers.
 */
export function loginOf(credentials: AddressCredentials | undefined): readonly GitLogin[] {
  const { origin, user = '', password } = credentials ?? {}
  if (origin === undefined || password === undefined || !isOneLine(`${user}${password}`)) return []
  return [{ origin, user, password, isOfAddress: true }]
}

/**
 * Returns an environment that makes git use the user name of an address that contains a user but no password. Returns
 * `env` unchanged for any other address.
 */
export function withUser(env: GitOptions['env'], credentials: AddressCredentials | undefined): GitOptions['env'] {
  if (!credentials || credentials.password !== undefined) return env
  return withSettings(env, [[`credential.${credentials.origin}.username`, credentials.user]])
}

/** Decodes percent-encoding in a part of an address; leaves everything else unchanged, as git does. */
const unescaped = (text: string): string =>
  text.replaceAll(/(?:%[\da-f]{2})+/gi, found => Buffer.from(found.replaceAll('%', ''), 'hex').toString())
