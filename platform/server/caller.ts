import type { IncomingHttpHeaders } from 'node:http'
import type { ApiRoute } from '../api/route.ts'
import type { TokenRecord } from '../records/token.ts'
import type { PlatformUser } from '../records/user.ts'
import { requireOurPage, sessionOf } from './browser.ts'
import { noNamespace, notAllowed, notLoggedIn, PlatformError } from './platform-error.ts'
import type { Tokens } from './tokens.ts'
import { LINK_ISSUER, type Users } from './users.ts'
import type { PlatformWorld } from './world.ts'

/** Who makes a request, and with which token. */
export interface Identified {
  readonly user: PlatformUser
  readonly token: TokenRecord
}

/** What it takes to know somebody. */
export interface Accounts {
  readonly tokens: Tokens
  readonly users: Users
}

/** Tokens that stand for the person themselves. */
const PERSONAL: ReadonlySet<string> = new Set(['session', 'cli'])
/** Milliseconds. */
const REMEMBERED = 30 * 86_400_000
/** Tokens that get their owner in, but into no account: they are exchanged for one. */
const EXCHANGED: ReadonlySet<string> = new Set(['setup', 'invite'])

/**
 * Who makes a request, by its `Authorization`, or by the session of a browser, which counts from pages of
 * ours only. Throws a PlatformError when that is nobody.
 */
export async function whoIs(
  headers: IncomingHttpHeaders,
  { settings: { url }, now }: Pick<PlatformWorld, 'settings' | 'now'>,
  parts: Accounts,
): Promise<Identified> {
  if (headers.authorization !== undefined) {
    const text = bearer(headers.authorization)
    // A session is a browser's, and no script has its text.
    if (text === undefined || text.startsWith('devctl_session_')) throw notLoggedIn()
    return identify(text, parts, now())
  }
  const session = sessionOf(headers)
  if (!session?.startsWith('devctl_session_')) throw notLoggedIn()
  requireOurPage(headers, url)
  return identify(session, parts, now())
}

/** Who a token belongs to. Throws a PlatformError when it lets nobody in. */
export async function identify(text: string, { tokens, users }: Accounts, now: number): Promise<Identified> {
  const token = await tokens.check(text)
  if (!token || token.user === undefined || EXCHANGED.has(token.kind)) throw notLoggedIn()
  const user = await users.find(token.user)
  if (!user) throw notLoggedIn()
  checkUser(user, token, now)
  // That it was used is written where it can be; the request does not depend on it.
  await tokens.noteUse(token).catch(() => {})
  return { user, token }
}

function checkUser(user: PlatformUser, token: TokenRecord, now: number): void {
  if (user.isSuspended)
    throw new PlatformError(403, 'suspended', `\`${user.login}\` is suspended`, { hint: 'ask an administrator' })
  if (user.isRefused || (token.kind === 'api' && isForgotten(user, now)))
    throw new PlatformError(401, 'login', `\`${user.login}\` has to log in again`, {
      hint: 'the provider of the login does not know them any more, or was not asked for 30 days',
    })
}

/**
 * Tokens of programs are as good as the account of their owner, which only their provider can tell: nothing
 * was heard from it for too long.
 */
const isForgotten = ({ issuer, lastLogin, asked = lastLogin }: PlatformUser, now: number): boolean =>
  issuer !== LINK_ISSUER && Math.max(Date.parse(lastLogin), Date.parse(asked)) + REMEMBERED < now

/** Who has called a while ago, as they are now: of what takes long. Throws a PlatformError if they could call no more. */
export async function stillAllowed(by: Identified, { tokens, users }: Accounts, now: number): Promise<Identified> {
  const [token, user] = await Promise.all([tokens.find(by.token.id), users.find(by.user.id)])
  if (!token || !user || Date.parse(token.expires) <= now) throw notLoggedIn()
  checkUser(user, token, now)
  return { user, token }
}

/** Throws a PlatformError unless they may call a route. */
export function checkCaller(
  { user, token }: Identified,
  { caller, isForRuns, isForCi }: Pick<ApiRoute, 'caller' | 'isForRuns' | 'isForCi'>,
  of: Readonly<Record<string, unknown>> = {},
): void {
  if (token.kind === 'run' && !isForRuns) throw notAllowed('this', 'a login: a run cannot do it')
  if (token.kind === 'ci' && !isForCi) throw notAllowed('this', 'a login: a job of a CI cannot do it')
  // What is not in the path the route itself looks at.
  if (token.kind === 'ci' && typeof of['name'] === 'string') requirePrefix(token, of['name'])
  // In the path, or in the query.
  const ns = of['ns'] ?? of['namespace']
  if (token.namespaces && typeof ns === 'string' && !token.namespaces.includes(ns)) throw noNamespace(ns)
  if (caller === 'admin' && user.role !== 'admin') throw notAllowed('this', 'an administrator')
  if (caller === 'nobody' || caller === 'user' || PERSONAL.has(token.kind)) return
  throw notAllowed('this', 'a login: a token for programs does not do')
}

/** Whether a preview of this name is one that a token is for. */
export const isForPreview = ({ kind, prefix }: TokenRecord, name: string): boolean =>
  kind !== 'ci' || (prefix !== undefined && name.startsWith(prefix))

/** Throws a PlatformError unless a token is for a preview of this name. */
export function requirePrefix(token: TokenRecord, name: string): void {
  if (isForPreview(token, name)) return
  throw new PlatformError(403, 'not-allowed', `this job may have no preview \`${name}\``, {
    hint: `names of its previews begin with \`${token.prefix}\`: \`devctl preview deploy ${token.prefix}NAME\``,
  })
}

/** `Authorization: Bearer …`, as one text; undefined for anything else. */
const bearer = (header: string | undefined): string | undefined => /^Bearer ([\w-]+)$/.exec(header ?? '')?.[1]
