import type { IncomingHttpHeaders } from 'node:http'
import { LONGEST_SESSION } from '../../records/token.ts'
import { PlatformError } from './platform-error.ts'

/**
 * Session cookie. With the prefix `__Host-`, browsers accept it only from this host, and not from the sibling hosts of
 * environments (RFC 6265bis).
 */
export const SESSION_COOKIE = '__Host-devctl'
const LOGIN_COOKIE = '__Host-devctl-login'

/** The browser session of a request. */
export interface Browser {
  /** Throws a PlatformError unless the request comes from a page of the platform. */
  requireOurPage(): void
  /** Starts a session. Scripts cannot read its cookie. */
  enter(token: string): void
  /** Ends the session. */
  leave(): void
}

export const browserOf = (headers: IncomingHttpHeaders, url: string, setCookie: (value: string) => void): Browser => ({
  requireOurPage: () => requireOurPage(headers, url),
  enter: token => setCookie(sessionCookie(token, LONGEST_SESSION / 1000)),
  leave: () => setCookie(sessionCookie('', 0)),
})

/** Returns the session token of a request; undefined if the request has no session cookie. */
export const sessionOf = (headers: IncomingHttpHeaders): string | undefined => cookieOf(headers, SESSION_COOKIE)

/**
 * Returns the sealed login state that was stored in this browser when the login began; undefined if the request has no
 * such cookie.
 */
export const loginOf = (headers: IncomingHttpHeaders): string | undefined => cookieOf(headers, LOGIN_COOKIE)

/**
 * Returns the login cookie. It is `SameSite=Lax`, so browsers send it when the provider's page redirects them to the
 * platform.
 */
export const loginCookie = (value: string, seconds: number): string =>
  `${LOGIN_COOKIE}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; Secure; SameSite=Lax`

const cookieOf = ({ cookie = '' }: IncomingHttpHeaders, name: string): string | undefined =>
  new RegExp(`(?:^|; ?)${name}=([\\w.-]{1,2000})(?:;|$)`).exec(cookie)?.[1]

/**
 * Throws a PlatformError unless a request comes from a page of the platform. Browsers report this in `Sec-Fetch-Site`,
 * which scripts cannot set; if this header is missing, `Origin` has to match exactly. Environments are the same *site*
 * as the platform, so `SameSite` cookies do not protect the platform from their pages.
 */
export function requireOurPage({ origin, 'sec-fetch-site': site }: IncomingHttpHeaders, url: string): void {
  const isOurs = site === undefined ? origin === new URL(url).origin : site === 'same-origin'
  if (!isOurs) throw new PlatformError(403, 'origin', 'the request does not come from a page of the platform')
}

// `Strict` is possible, because pages are the same for all users and fetch their data with separate requests.
const sessionCookie = (value: string, seconds: number): string =>
  `${SESSION_COOKIE}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; Secure; SameSite=Strict`
