import type { Caller } from '../api/route.ts'
import type { TokenRecord } from '../records/token.ts'
import type { PlatformUser } from '../records/user.ts'
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

/** Who a token belongs to. Throws a PlatformError when it lets nobody in. */
export async function identify(text: string, tokens: Tokens, users: Users): Promise<Identified> {
  const token = await tokens.check(text)
  if (!token || token.user === undefined || EXCHANGED.has(token.kind)) throw notLoggedIn()
  const user = await users.find(token.user)
  if (!user) throw notLoggedIn()
  if (user.isSuspended)
    throw new PlatformError(403, 'suspended', `\`${user.login}\` is suspended`, { hint: 'ask an administrator' })
  return { user, token }
}

/** Throws a PlatformError unless they may call a route. */
export function checkCaller({ user, token }: Identified, caller: Caller): void {
  if (caller === 'admin' && user.role !== 'admin') throw notAllowed('this', 'an administrator')
  if (caller === 'nobody' || caller === 'user' || PERSONAL.has(token.kind)) return
  throw notAllowed('this', 'a login: a token for programs does not do')
}

/** `Authorization: Bearer …`, as one text; undefined for anything else. */
export const bearer = (header: string | undefined): string | undefined => /^Bearer ([\w-]+)$/.exec(header ?? '')?.[1]
