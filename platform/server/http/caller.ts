import type { IncomingHttpHeaders } from 'node:http'
import type { ApiRoute } from '../../api/route.ts'
import type { TokenRecord } from '../../records/token.ts'
import type { PlatformUser } from '../../records/user.ts'
import type { TokenKind } from '../../rules/accounts/token.ts'
import type { ServerContext } from '../context.ts'
import type { Tokens } from '../login/tokens.ts'
import { LINK_ISSUER, type Users } from '../login/users.ts'
import { requireOurPage, sessionOf } from './browser.ts'
import { noNamespace, notLoggedIn, onlyFor, PlatformError } from './platform-error.ts'

/** The caller of a request, and the token that the request uses. */
export interface Identified {
  readonly user: PlatformUser
  readonly token: TokenRecord
}

/** The stores of the records that identify a caller. */
export interface Accounts {
  readonly tokens: Tokens
  readonly users: Users
}

/** Kinds of tokens that act as the user. */
const PERSONAL: ReadonlySet<string> = new Set(['session', 'cli'])
/** Time in milliseconds for which an account is trusted after its provider has last confirmed it. */
const REMEMBERED = 30 * 86_400_000
/**
 * Kinds of tokens that are accepted only while the account is trusted. An API token can be valid for longer than that,
 * and a command line that is logged in can log in again without the provider.
 */
const LASTING: ReadonlySet<string> = new Set(['api', 'cli'])
/** Kinds of tokens that can only be exchanged for an account. */
const EXCHANGED: ReadonlySet<string> = new Set(['setup', 'invite'])

/**
 * Identifies the caller by the `Authorization` header, or by the session cookie, which is accepted only in requests
 * from pages of the platform. Throws a PlatformError if there is no valid login.
 */
export async function whoIs(
  headers: IncomingHttpHeaders,
  { settings: { url }, now }: Pick<ServerContext, 'settings' | 'now'>,
  parts: Accounts,
): Promise<Identified> {
  if (headers.authorization !== undefined) {
    const text = bearer(headers.authorization)
    // A session token is valid only in its cookie, which scripts cannot read.
    if (text === undefined || text.startsWith('devctl_session_')) throw notLoggedIn()
    return identify(text, parts, now())
  }
  const session = sessionOf(headers)
  if (!session?.startsWith('devctl_session_')) throw notLoggedIn()
  requireOurPage(headers, url)
  return identify(session, parts, now())
}

/** Returns the owner of a token. Throws a PlatformError if the token is not accepted. */
export async function identify(text: string, { tokens, users }: Accounts, now: number): Promise<Identified> {
  const token = await tokens.check(text)
  if (!token || token.user === undefined || EXCHANGED.has(token.kind)) throw notLoggedIn()
  const user = await users.find(token.user)
  if (!user) throw notLoggedIn()
  requireActive(user, token.kind, now)
  // A failure to record the last use does not fail the request.
  await tokens.noteUse(token).catch(() => {})
  return { user, token }
}

/** Throws a PlatformError if a user is suspended, or has to log in again before a token of this kind is accepted. */
export function requireActive(user: PlatformUser, kind: TokenKind, now: number): void {
  requireUnsuspended(user)
  if (user.isRefused || (LASTING.has(kind) && isForgotten(user, now)))
    throw new PlatformError(401, 'login', `\`${user.login}\` has to log in again`, {
      hint: 'the login provider no longer knows them, or could not be asked for 30 days',
    })
}

/** Throws a PlatformError if a user is suspended. */
export function requireUnsuspended({ login, isSuspended }: PlatformUser): void {
  if (isSuspended)
    throw new PlatformError(403, 'suspended', `\`${login}\` is suspended`, { hint: 'ask an administrator' })
}

/** Returns true if the provider has not confirmed an account for too long. */
const isForgotten = ({ issuer, lastLogin, asked = lastLogin }: PlatformUser, now: number): boolean =>
  issuer !== LINK_ISSUER && Math.max(Date.parse(lastLogin), Date.parse(asked)) + REMEMBERED < now

/**
 * Checks a caller again, during a long request, and returns the caller with the current records. Throws a PlatformError
 * if the caller would be refused now.
 */
export async function stillAllowed(by: Identified, { tokens, users }: Accounts, now: number): Promise<Identified> {
  const [token, user] = await Promise.all([tokens.find(by.token.id), users.find(by.user.id)])
  if (!token || !user || Date.parse(token.expires) <= now) throw notLoggedIn()
  requireActive(user, token.kind, now)
  return { user, token }
}

/** Throws a PlatformError unless the caller may use a route. */
export function checkCaller(
  { user, token }: Identified,
  { caller, isForRuns, isForCi }: Pick<ApiRoute, 'caller' | 'isForRuns' | 'isForCi'>,
  of: Readonly<Record<string, unknown>> = {},
): void {
  if (token.kind === 'run' && !isForRuns)
    throw onlyFor('do this', 'somebody who has logged in', 'tokens of runs cannot')
  if (token.kind === 'ci' && !isForCi)
    throw onlyFor('do this', 'somebody who has logged in', 'tokens of CI jobs cannot')
  // If the name is not in the path, the handler checks the prefix.
  if (token.kind === 'ci' && typeof of['name'] === 'string') requirePrefix(token, of['name'])
  // The namespace is in the path or in the query.
  const ns = of['ns'] ?? of['namespace']
  if (token.namespaces && typeof ns === 'string' && !token.namespaces.includes(ns)) throw noNamespace(ns)
  if (caller === 'admin' && user.role !== 'admin') throw onlyFor('do this', 'an administrator')
  if (caller === 'nobody' || caller === 'user' || PERSONAL.has(token.kind)) return
  throw onlyFor('do this', 'somebody who has logged in', 'tokens for programs cannot')
}

/** Returns true if a token allows previews with this name. */
export const isForPreview = ({ kind, prefix }: TokenRecord, name: string): boolean =>
  kind !== 'ci' || (prefix !== undefined && name.startsWith(prefix))

/** Throws a PlatformError unless a token allows a preview with this name. */
export function requirePrefix(token: TokenRecord, name: string): void {
  if (isForPreview(token, name)) return
  throw new PlatformError(403, 'not-allowed', `this job may not use the name \`${name}\` for a preview`, {
    hint: `names of its previews begin with \`${token.prefix}\`: \`devctl preview deploy ${token.prefix}NAME\``,
  })
}

/** Returns the token of `Authorization: Bearer …`; undefined for any other header. */
const bearer = (header: string | undefined): string | undefined => /^Bearer ([\w-]+)$/.exec(header ?? '')?.[1]
