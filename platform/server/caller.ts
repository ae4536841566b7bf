import type { IncomingHttpHeaders } from 'node:http'
import type { Caller } from '../api/route.ts'
import type { TokenRecord } from '../records/token.ts'
import type { PlatformUser } from '../records/user.ts'
import { requireOurPage, sessionOf } from './browser.ts'
import { notAllowed, notLoggedIn, PlatformError } from './platform-error.ts'
import type { Tokens } from './tokens.ts'
import type { Users } from './users.ts'

/** Who makes a request, and with which token. */
export interface Identified {
  readonly user: PlatformUser
  readonly token: TokenRecord
}

/** Tokens that stand for the person themselves. */
const PERSONAL: ReadonlySet<string> = new Set(['session', 'cli'])
/** Tokens that get their owner in, but into no account: they are exchanged for one. */
const EXCHANGED: ReadonlySet<string> = new Set(['setup', 'invite'])

/**
 * Who makes a request, by its `Authorization`, or by the session of a browser, which counts from pages of
 * ours only. Throws a PlatformError when that is nobody.
 */
export async function whoIs(
  headers: IncomingHttpHeaders,
  url: string,
  { tokens, users }: { readonly tokens: Tokens; readonly users: Users },
): Promise<Identified> {
  if (headers.authorization !== undefined) {
    const text = bearer(headers.authorization)
    // A session is a browser's, and no script has its text.
    if (text === undefined || text.startsWith('devctl_session_')) throw notLoggedIn()
    return identify(text, tokens, users)
  }
  const session = sessionOf(headers)
  if (!session?.startsWith('devctl_session_')) throw notLoggedIn()
  requireOurPage(headers, url)
  return identify(session, tokens, users)
}

/** Who a token belongs to. Throws a PlatformError when it lets nobody in. */
async function identify(text: string, tokens: Tokens, users: Users): Promise<Identified> {
  const token = await tokens.check(text)
  if (!token || token.user === undefined || EXCHANGED.has(token.kind)) throw notLoggedIn()
  const user = await users.find(token.user)
  if (!user) throw notLoggedIn()
  if (user.isSuspended)
    throw new PlatformError(403, 'suspended', `\`${user.login}\` is suspended`, { hint: 'ask an administrator' })
  // That it was used is written where it can be; the request does not depend on it.
  await tokens.noteUse(token).catch(() => {})
  return { user, token }
}

/** Throws a PlatformError unless they may call a route. */
export function checkCaller({ user, token }: Identified, caller: Caller): void {
  if (caller === 'admin' && user.role !== 'admin') throw notAllowed('this', 'an administrator')
  if (caller === 'nobody' || caller === 'user' || PERSONAL.has(token.kind)) return
  throw notAllowed('this', 'a login: a token for programs does not do')
}

/** `Authorization: Bearer …`, as one text; undefined for anything else. */
const bearer = (header: string | undefined): string | undefined => /^Bearer ([\w-]+)$/.exec(header ?? '')?.[1]
