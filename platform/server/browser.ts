import type { IncomingHttpHeaders } from 'node:http'
import { LONGEST_SESSION } from '../records/token.ts'
import { PlatformError } from './platform-error.ts'

/** The prefix has browsers refuse it from anybody but us: hosts of environments are beside ours (RFC 6265bis). */
export const SESSION_COOKIE = '__Host-devctl'
const LOGIN_COOKIE = '__Host-devctl-login'

/** A request that a browser makes, and the session that it is given. */
export interface Browser {
  /** Throws a PlatformError unless the request comes from a page of ours. */
  requireOurPage(): void
  /** Gives it a session; its text never comes to a script. */
  enter(token: string): void
  /** Takes the session back. */
  leave(): void
}

export const browserOf = (headers: IncomingHttpHeaders, url: string, setCookie: (value: string) => void): Browser => ({
  requireOurPage: () => requireOurPage(headers, url),
  enter: token => setCookie(sessionCookie(token, LONGEST_SESSION / 1000)),
  leave: () => setCookie(sessionCookie('', 0)),
})

/** The token of the session that a request comes with. */
export const sessionOf = (headers: IncomingHttpHeaders): string | undefined => cookieOf(headers, SESSION_COOKIE)

/** What was sealed when a login began in this browser. */
export const loginOf = (headers: IncomingHttpHeaders): string | undefined => cookieOf(headers, LOGIN_COOKIE)

/** `Lax`: people come back to us from a page of the provider. */
export const loginCookie = (value: string, seconds: number): string =>
  `${LOGIN_COOKIE}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; Secure; SameSite=Lax`

const cookieOf = ({ cookie = '' }: IncomingHttpHeaders, name: string): string | undefined =>
  new RegExp(`(?:^|; ?)${name}=([\\w.-]{1,2000})(?:;|$)`).exec(cookie)?.[1]

/**
 * Throws a PlatformError unless a request comes from a page of ours, as the browser says: by
 * `Sec-Fetch-Site`, which no script can set, and in a browser that does not send it by the exact `Origin`.
 * Environments are the same *site* as we are, so `SameSite` does not keep their pages out.
 */
export function requireOurPage({ origin, 'sec-fetch-site': site }: IncomingHttpHeaders, url: string): void {
  const isOurs = site === undefined ? origin === new URL(url).origin : site === 'same-origin'
  if (!isOurs) throw new PlatformError(403, 'origin', 'the request does not come from a page of the platform')
}

// `Strict` does: pages are the same for everybody, and ask with a request of their own.
const sessionCookie = (value: string, seconds: number): string =>
  `${SESSION_COOKIE}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; Secure; SameSite=Strict`
