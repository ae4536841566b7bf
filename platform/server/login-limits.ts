import { isIP } from 'node:net'
import type { FastifyRequest } from 'fastify'
import type { RouteName } from '../api/routes.ts'
import { addressKey, Limiter } from '../rules/limiter.ts'
import { isTokenId } from '../rules/token.ts'
import { PlatformError } from './platform-error.ts'

/** What is limited of a request. */
export type LimitedRequest = Pick<FastifyRequest, 'ip' | 'headers' | 'socket'>

/** How often somebody may try to log in. Each replica counts by itself. */
export interface LoginLimits {
  /** Counts an attempt by where it comes from. Throws a PlatformError when there were too many. */
  attempt(what: RouteName | '/login', request: LimitedRequest): void
  /** Counts an attempt by what it tries, such as one link. Throws a PlatformError when there were too many. */
  target(route: RouteName, body: unknown): void
  /** The attempt was right, so it does not count: those who share an address do not use up each other's. */
  right(what: RouteName | '/login', request: LimitedRequest): void
  /** Counts what an account makes, and its guesses at what others have to know. Throws a PlatformError when there were too many. */
  account(route: RouteName, user: string): void
}

const KEYS = 10_000
/** Wrong attempts of one client, and of a connection that may be the proxy of all. */
const WRONG = { one: { burst: 200, every: 100, keys: KEYS }, many: { burst: 2000, every: 10, keys: KEYS } }
/** Logins by a typed code that are begun: each is a record for ten minutes. */
const BEGUN = { one: { burst: 30, every: 20_000, keys: KEYS }, many: { burst: 300, every: 2000, keys: KEYS } }
/** Attempts at one link, code, or login that waits: a command line asks every two seconds. */
const TARGET = { burst: 20, every: 1000, keys: KEYS }
/** Guesses of an account at what others type, which is short, and what it has made for itself. */
const GUESSES = { burst: 20, every: 30_000, keys: KEYS }
const MADE = { burst: 60, every: 60_000, keys: KEYS }

const GUESSED: ReadonlySet<string> = new Set<RouteName>(['POST /auth/device/look', 'POST /auth/device/answer'])
const MAKING: ReadonlySet<string> = new Set<RouteName>(['POST /auth/cli/code', 'POST /me/tokens'])
/** The field of a body that has `ID.SECRET`, or a token. */
const TARGETS: Readonly<Partial<Record<RouteName, string>>> = {
  'POST /auth/device/poll': 'device',
  'POST /auth/cli': 'code',
  'POST /auth/setup': 'token',
}
const BEGIN = 'POST /auth/device' satisfies RouteName

/** What is before the server: proxies that the settings name, perhaps others, or none. */
export type Before = 'named' | 'unnamed' | 'none'

export function loginLimits(before: Before): LoginLimits {
  // It never goes back, as the time of day may.
  const now = () => performance.now()
  const pair = (of: typeof WRONG) => ({ one: new Limiter(of.one), many: new Limiter(of.many) })
  const [wrong, begun] = [pair(WRONG), pair(BEGUN)]
  const [targets, guesses, made] = [new Limiter(TARGET), new Limiter(GUESSES), new Limiter(MADE)]
  return {
    attempt(what, request) {
      if (!isLogin(what)) return
      const { client, connection } = sourceOf(request, before)
      const { one, many } = what === BEGIN ? begun : wrong
      if (client !== undefined) refuseFor(one.take(client, now()))
      if (connection !== undefined) refuseFor(many.take(connection, now()))
    },
    target(route, body) {
      const field = TARGETS[route]
      const text = field === undefined ? undefined : (body as Readonly<Record<string, unknown>> | undefined)?.[field]
      if (typeof text !== 'string') return
      // What has no such part is nothing that there is.
      const id = text.split(/[._]/).find(isTokenId)
      if (id !== undefined) refuseFor(targets.take(id, now()))
    },
    right(what, request) {
      if (!isLogin(what) || what === BEGIN) return
      const { client, connection } = sourceOf(request, before)
      if (client !== undefined) wrong.one.giveBack(client)
      if (connection !== undefined) wrong.many.giveBack(connection)
    },
    account(route, user) {
      if (GUESSED.has(route)) refuseFor(guesses.take(user, now()))
      if (MAKING.has(route)) refuseFor(made.take(user, now()))
    },
  }
}

/** Whose body, or signature, is a guess at a secret. */
const isLogin = (what: string): boolean => what === '/login' || / \/(auth|hooks\/:forge)\//.test(what)

/**
 * Where a request comes from. If the proxies are known, its address is that of its client. If the settings do not name the
 * proxy, the last address of `X-Forwarded-For` is what the proxy has seen, which its clients cannot choose. Whoever comes
 * without a proxy can, so all requests of a connection's address count together, too, by a higher limit.
 */
function sourceOf(
  { ip, headers, socket }: LimitedRequest,
  before: Before,
): { readonly client?: string; readonly connection?: string } {
  if (before !== 'unnamed') return { client: addressKey(ip) }
  const connection = addressKey(socket.remoteAddress ?? '')
  const said = String(headers['x-forwarded-for'] ?? '')
    .split(',')
    .at(-1)!
    .trim()
  return isIP(said) > 0 ? { client: `${connection} ${addressKey(said)}`, connection } : { connection }
}

function refuseFor(wait: number): void {
  if (wait === 0) return
  const seconds = Math.ceil(wait / 1000)
  throw new PlatformError(429, 'too-many', 'too many attempts', { hint: `try again in ${seconds} s` })
}
