import type { GitOptions } from './git.ts'
import { withSettings } from './git-configuration.ts'
import type { GitLogin } from './login.ts'

/** The credentials in a web address. */
export interface AddressCredentials {
  /** `https://git.example.com`: where they are sent to, and nowhere else. */
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
 * The login that an address had: a user with a password. In the address it would be in the
 * configuration of each copy, and on the command line of git's own helpers.
 */
export const loginOf = (credentials: AddressCredentials | undefined): readonly GitLogin[] =>
  credentials?.password === undefined
    ? []
    : [{ origin: credentials.origin, user: credentials.user, password: credentials.password, isOfAddress: true }]

/** An environment in which git knows the user that an address names without a password. */
export function withUser(env: GitOptions['env'], credentials: AddressCredentials | undefined): GitOptions['env'] {
  if (!credentials || credentials.password !== undefined) return env
  return withSettings(env, [[`credential.${credentials.origin}.username`, credentials.user]])
}

/** Decodes the escapes in a part of an address; leaves everything else unchanged, as git does. */
const unescaped = (text: string): string =>
  text.replaceAll(/(?:%[\da-f]{2})+/gi, found => Buffer.from(found.replaceAll('%', ''), 'hex').toString())
