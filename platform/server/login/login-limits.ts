import { isIP } from 'node:net'
import type { FastifyRequest } from 'fastify'
import type { RouteName } from '../../api/routes.ts'
import { addressKey, Limiter } from '../../rules/accounts/limiter.ts'
import { isTokenId } from '../../rules/accounts/token.ts'
import { PlatformError } from '../http/platform-error.ts'

/** The parts of a request that the limits use. */
export type LimitedRequest = Pick<FastifyRequest, 'ip' | 'headers' | 'socket'>

/** Limits the number of login attempts. Each replica counts separately. */
export interface LoginLimits {
  /** Counts an attempt by the source of the request. Throws a PlatformError if there were too many attempts. */
  attempt(what: RouteName | '/login', request: LimitedRequest): void
  /**
   * Counts a delivery of a webhook by its source, which is the same for all deliveries of a forge. If there were too
   * many deliveries, only deliveries to existing webhooks are accepted: a PlatformError is thrown for the others.
   */
  delivery(request: LimitedRequest, isKnown: () => Promise<boolean>): Promise<void>
  /** Counts an attempt by its target, such as one link. Throws a PlatformError if there were too many attempts. */
  target(route: RouteName, body: unknown): void
  /**
   * Takes back the count of a request that succeeded, so that users who share an address do not use up each other's
   * attempts.
   */
  right(what: RouteName | '/login', request: LimitedRequest): void
  /**
   * Counts the logins that an account starts and its guesses at short codes. Throws a PlatformError if there were too
   * many.
   */
  account(route: RouteName, user: string): void
}

const KEYS = 10_000
/** Rate limits for failed attempts: of one client, and of a connection that may be a proxy for all clients. */
const WRONG = { one: { burst: 200, every: 100, keys: KEYS }, many: { burst: 2000, every: 10, keys: KEYS } }
/** Rate limits for starting device logins, because each one is a record for ten minutes. */
const BEGUN = { one: { burst: 30, every: 20_000, keys: KEYS }, many: { burst: 300, every: 2000, keys: KEYS } }
/** Rate limit for attempts at one link, code, or pending login. A CLI polls its pending login every two seconds. */
const TARGET = { burst: 20, every: 1000, keys: KEYS }
/**
 * Rate limits for one account: for guesses at codes, which are short because users type them, and for the logins and
 * tokens that the account creates.
 */
const GUESSES = { burst: 20, every: 30_000, keys: KEYS }
const MADE = { burst: 60, every: 60_000, keys: KEYS }

const GUESSED: ReadonlySet<string> = new Set<RouteName>(['POST /auth/device/look', 'POST /auth/device/answer'])
const MAKING: ReadonlySet<string> = new Set<RouteName>(['POST /auth/cli/code', 'POST /me/tokens'])
/** Name of the field that contains `ID.SECRET` or a token in the body of a request, by route. */
const TARGETS: Readonly<Partial<Record<RouteName, string>>> = {
  'POST /auth/device/poll': 'device',
  'POST /auth/cli': 'code',
  'POST /auth/setup': 'token',
}
const BEGIN = 'POST /auth/device' satisfies RouteName

/** Proxies in front of the server: named in the settings, possibly present but not named, or none. */
export type Before = 'named' | 'unnamed' | 'none'

export function loginLimits(before: Before): LoginLimits {
  // A monotonic clock, because the system time may be set back.
  const now = () => performance.now()
  const pair = (of: typeof WRONG) => ({ one: new Limiter(of.one), many: new Limiter(of.many) })
  const [wrong, begun] = [pair(WRONG), pair(BEGUN)]
  const [targets, guesses, made] = [new Limiter(TARGET), new Limiter(GUESSES), new Limiter(MADE)]
  const delivered = pair(WRONG)
  /** Deliveries that were counted, so that `right` can take back their count. */
  const counted = new WeakSet<LimitedRequest>()
  const waitOf = ({ one, many }: ReturnType<typeof pair>, { client, connection }: Source) =>
    (client !== undefined && one.take(client, now())) || (connection !== undefined && many.take(connection, now())) || 0
  const giveBack = ({ one, many }: ReturnType<typeof pair>, { client, connection }: Source) => {
    if (client !== undefined) one.giveBack(client)
    if (connection !== undefined) many.giveBack(connection)
  }
  return {
    attempt(what, request) {
      if (isLogin(what)) refuseFor(waitOf(what === BEGIN ? begun : wrong, sourceOf(request, before)))
    },
    async delivery(request, isKnown) {
      const wait = waitOf(delivered, sourceOf(request, before))
      if (wait === 0) counted.add(request)
      else if (!(await isKnown())) refuseFor(wait)
    },
    target(route, body) {
      const field = TARGETS[route]
      const text = field === undefined ? undefined : (body as Readonly<Record<string, unknown>> | undefined)?.[field]
      if (typeof text !== 'string') return
      // The value cannot refer to a record without an id.
      const id = text.split(/[._]/).find(isTokenId)
      if (id !== undefined) refuseFor(targets.take(id, now()))
    },
    right(what, request) {
      if (counted.has(request)) giveBack(delivered, sourceOf(request, before))
      else if (isLogin(what) && what !== BEGIN) giveBack(wrong, sourceOf(request, before))
    },
    account(route, user) {
      if (GUESSED.has(route)) refuseFor(guesses.take(user, now()))
      if (MAKING.has(route)) refuseFor(made.take(user, now()))
    },
  }
}

/** Returns true for routes whose body is a guess at a secret. */
const isLogin = (what: string): boolean => what === '/login' || / \/auth\//.test(what)

interface Source {
  readonly client?: string
  readonly connection?: string
}

/**
 * Returns the source of a request. If the settings name the proxies, or there are none, the source is the client's
 * address. Otherwise it is the last address in `X-Forwarded-For`. A proxy has added this address, so clients of the
 * proxy cannot choose it. Clients that connect without a proxy can choose the address, so all requests from the same
 * connection address are also counted together, with a higher limit.
 */
function sourceOf({ ip, headers, socket }: LimitedRequest, before: Before): Source {
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
