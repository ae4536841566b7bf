import type { Socket } from 'node:net'
import { createSecureContext } from 'node:tls'
import { agentFor } from '../../adapters/http/agents.ts'
import { backOff, pause } from '../../adapters/http/back-off.ts'
import { exchange, readBody } from '../../adapters/http/exchange.ts'
import { proxyFor } from '../../adapters/http/proxy.ts'
import { NotUpgraded, upgradeTo } from '../../adapters/http/upgrade.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { configHome } from '../../project/contexts/home.ts'
import { platformNamedBy } from '../../project/contexts/platform-of-environment.ts'
import { isReadable } from '../../project/contexts/platform-url.ts'
import type { Secret } from '../../project/contexts/secret.ts'
import { readContexts } from '../../project/contexts/store.ts'
import { PAGES } from '../api/pages.ts'
import type { EventOf, ReplyOf, RouteName, StreamName, UpgradeName } from '../api/routes.ts'
import {
  type CallInput,
  NoPlatform,
  PlatformClient,
  PlatformRefusal,
  type PlatformRequest,
  refusalIn,
} from '../client/client.ts'
import { RUNS_ADDRESS } from '../records/names.ts'
import { LOG_IN_FIRST } from '../rules/accounts/log-in-first.ts'
import { isExplained } from '../rules/refusal-pages.ts'

/**
 * Timeouts in milliseconds: for connecting, for the start of the response and between two parts of it, and for
 * connecting and the start of the response together.
 */
const LIMITS = { connect: 10_000, answer: 30_000, whole: 40_000 }

/**
 * Maximum size of an answer in bytes, which is more than thousands of namespaces need, and minimum transfer rate in
 * bytes per millisecond.
 */
const ANSWER = { limit: 64 << 20, slowest: 16 }

/**
 * Maximum time in milliseconds for which a platform that has answered before can be unreachable, for example while its
 * server is restarted or replaced.
 */
const AWAY = 120_000
/** Retry period for a platform that has not answered yet, in milliseconds. */
const FIRST = 15_000

type Env = Readonly<Record<string, string | undefined>>

/** A platform as commands use it. A rejected request throws a UserError with the platform's message. */
export interface Platform {
  readonly url: string
  call<N extends RouteName>(name: N, input: CallInput<N>, signal?: AbortSignal): Promise<ReplyOf<N>>
  /** Upgrades a request to a bidirectional byte stream. The signal also ends the stream. */
  connect<N extends UpgradeName>(name: N, input: CallInput<N>, signal: AbortSignal): Promise<Socket>
  /**
   * Yields the events of a stream until it ends. Continues after the last event if the connection is lost, or if the
   * stream ends before its final event (`isLast`), for example because the server is restarted.
   */
  follow<N extends StreamName>(
    name: N,
    input: CallInput<N>,
    signal: AbortSignal,
    isLast?: (event: EventOf<N>) => boolean,
  ): AsyncGenerator<EventOf<N>>
}

/**
 * Returns a client for the platform at a URL, without sending a request. Throws a UserError for a token that would be
 * sent unencrypted.
 */
export function connectPlatform(url: string, token: Secret | undefined, env: Env): Platform {
  const server = new URL(url)
  // A run is inside the cluster, next to the server.
  if (token !== undefined && isReadable(server) && server.origin !== RUNS_ADDRESS)
    throw new UserError(`a token is not sent to \`${server.origin}\`: it is not encrypted`, {
      hint: `use this address of the platform: \`https://${server.host}\``,
    })
  let agent: ReturnType<typeof agentFor> | undefined
  let hasAnswered = false
  const known = () => ({ token, env, isPinned: authorityOf(server, env) !== undefined })
  const send = async ({ method, path, token, body, signal, after }: PlatformRequest, isStream: boolean) => {
    agent ??= agentTo(server, env)
    const headers = {
      accept: isStream ? 'text/event-stream' : 'application/json',
      ...(after !== undefined && { 'last-event-id': after }),
      'user-agent': 'devctl',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
    }
    return exchange(server, { method, path, headers, body, isStream }, await agent, LIMITS, signal)
  }
  const client = new PlatformClient(
    {
      async whole(request) {
        const response = await send(request, false)
        const body = await readBody(response, { silence: LIMITS.answer, ...ANSWER })
        return { status: response.statusCode ?? 0, text: body.toString('utf8') }
      },
      async stream(request) {
        const response = await send(request, true)
        return { status: response.statusCode ?? 0, chunks: response.setEncoding('utf8') }
      },
    },
    token?.reveal(),
  )
  return {
    url,
    async call(name, input, signal) {
      const began = performance.now()
      for (let failures = 1; ; failures++) {
        try {
          const reply = await client.call(name, input, signal)
          hasAnswered = true
          return reply
        } catch (error) {
          signal?.throwIfAborted()
          // Only GET requests are repeated, so that a command that waits for something survives an outage.
          const mayRepeat = hasAnswered && name.startsWith('GET ') && isUnavailable(error)
          if (!mayRepeat || performance.now() - began > AWAY) throw toUserError(error, server, known())
          await pause(backOff(failures, 200, 5000), signal)
        }
      }
    },
    async connect(name, input, signal) {
      const { path, token, protocol } = client.upgrade(name, input)
      agent ??= agentTo(server, env)
      const headers: Readonly<Record<string, string>> = token === undefined ? {} : { authorization: `Bearer ${token}` }
      try {
        const request = {
          url: new URL(path, server),
          protocol,
          headers,
          within: LIMITS.answer,
          signal,
        }
        return await upgradeTo(request, await agent)
      } catch (error) {
        signal.throwIfAborted()
        throw toUserError(error instanceof NotUpgraded ? refusalIn(error.status, error.text) : error, server, known())
      }
    },
    async *follow(name, input, signal, isLast) {
      let after: string | undefined
      let hasBegun = false
      let failures = 0
      let began = performance.now()
      for (;;) {
        let isOver = isLast === undefined
        try {
          const events = client.follow(name, input, { signal, ...(after !== undefined && { after }) })
          for await (const { id, data } of events) {
            hasAnswered = true
            hasBegun = true
            failures = 0
            began = performance.now()
            after = id ?? after
            isOver = isLast?.(data) ?? true
            yield data
          }
          if (isOver) return
        } catch (error) {
          signal.throwIfAborted()
          // The stream has ended normally, and its object has been deleted meanwhile.
          const isGone = error instanceof PlatformRefusal && error.status === 404
          if (isGone && hasBegun) return
          // The server is being replaced, or a proxy has ended a long request. No event is lost or read twice.
          // A limit on streams may still count the connection that has broken.
          const isCounted = error instanceof PlatformRefusal && error.status === 429 && hasBegun
          const isRefused = error instanceof PlatformRefusal && error.status < 500 && !isCounted
          if (isRefused || performance.now() - began > (hasAnswered ? AWAY : FIRST))
            throw toUserError(error, server, known())
        }
        await pause(backOff(++failures, 200, 5000), signal)
      }
    },
  }
}

/** Returns the answer of a platform; undefined if the object does not exist, or the caller may not see it. */
export const unlessNotThere = <T>(answer: Promise<T>): Promise<T | undefined> =>
  answer.catch(error => {
    if (error instanceof UserError && error.cause instanceof PlatformRefusal && error.cause.status === 404)
      return undefined
    throw error
  })

const recordOf = (server: URL, env: Env) =>
  readContexts(configHome({ env, cwd: process.cwd() })).contexts.get(server.origin)

/**
 * Returns the HTTP agent for a platform. For a platform with an authority of its own, only that authority is trusted
 * (`trustOwnAuthority`).
 */
function agentTo(server: URL, env: Env): ReturnType<typeof agentFor> {
  const ca = authorityOf(server, env)
  return agentFor(server, proxyFor(server, env), ca === undefined ? {} : { secureContext: createSecureContext({ ca }) })
}

function authorityOf(server: URL, env: Env): string | undefined {
  if (server.protocol !== 'https:') return undefined
  return recordOf(server, env)?.ca
}

/** Data about a platform that this machine has stored. */
interface Known {
  readonly token: Secret | undefined
  readonly env: Env
  /**
   * True if this machine has stored the authority of the platform, which the user compared at the login. No other
   * authority is trusted in this case.
   */
  readonly isPinned: boolean
}

/** Statuses that ingress controllers and proxies send while the server has no replica. */
const NOT_SERVED: ReadonlySet<number> = new Set([404, 502, 503, 504])

/**
 * True for errors that end when the server is back: the server does not answer, or a proxy in front of it reports that
 * the server is unavailable.
 */
function isUnavailable(error: unknown): boolean {
  if (error instanceof PlatformRefusal) return error.status > 500
  return !(error instanceof NoPlatform) || NOT_SERVED.has(error.status)
}

function toUserError(error: unknown, server: URL, { token, env, isPinned }: Known): unknown {
  if (error instanceof PlatformRefusal) {
    const { code, message, hint, notes } = withoutLogin(error, server, token, env) ?? error.body
    return new UserError(message, {
      notes: [
        ...(notes ?? []),
        `according to the platform ${server.host}${isExplained(code) ? `; \`devctl explain ${code}\` tells more` : ''}`,
      ],
      ...(hint !== undefined && { hint }),
      cause: error,
    })
  }
  // This machine has logged in at this address, so it is a platform.
  if (error instanceof NoPlatform && token !== undefined && NOT_SERVED.has(error.status))
    return new UserError(
      `the platform \`${server.origin}\` does not answer: what is before it says status ${error.status}`,
      {
        hint: 'it may be starting again: try in a minute; if that does not help, tell its operator (`devctl platform status`)',
        cause: error,
      },
    )
  if (error instanceof NoPlatform)
    return new UserError(`\`${server.origin}\` is not a devctl platform: ${error.message}`, {
      hint: 'check the address; behind a proxy, its login page may have answered',
      cause: error,
    })
  return new UserError(`the platform \`${server.origin}\` does not answer: ${(error as Error).message}`, {
    hint: hintOf((error as NodeJS.ErrnoException).code ?? '', isPinned, server.origin),
    cause: error,
  })
}

/**
 * Returns the platform's response to a missing or invalid login, with facts added that only this machine knows: the
 * origin of the token, and how to get another token. Returns undefined for other rejections.
 */
function withoutLogin(
  { status, body }: PlatformRefusal,
  { origin }: URL,
  token: Secret | undefined,
  env: Env,
): PlatformRefusal['body'] | undefined {
  if (status !== 401 || body.message !== LOG_IN_FIRST) return undefined
  const login = `\`devctl context use ${origin}\` logs in`
  if (token === undefined) return { ...body, hint: login }
  const isOf = (other: string | undefined) => other === token.reveal()
  const isOfEnvironment = platformNamedBy(env) === origin && isOf(env.DEVCTL_TOKEN?.trim())
  if (!isOfEnvironment && isOf(recordOf(new URL(origin), env)?.token?.reveal()))
    return { ...body, message: `your login to \`${origin}\` has ended`, hint: `${login} again` }
  const from = isOfEnvironment ? '`DEVCTL_TOKEN`' : '`--token`'
  return {
    ...body,
    message: `the platform does not accept the token of ${from}: it is wrong, expired or deleted`,
    hint: `create another one at ${origin}${PAGES.tokens}`,
  }
}

/** Returns the hint for an error code with which Node.js rejects a certificate. */
function hintOf(code: string, isPinned: boolean, url: string): string {
  const isUnknown = /^(UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_)/.test(code)
  if (isUnknown && isPinned)
    return `this machine trusts only the authority that this platform had at your login. Ask its operator whether it has another certificate now; then \`devctl context delete ${url}\`, and log in again`
  if (isUnknown)
    return 'this machine does not know who has signed its certificate: name a file with that authority in `NODE_EXTRA_CA_CERTS`; of a platform with `--own-ca`, the operator tells the fingerprint for `--ca-fingerprint`'
  if (code === 'CERT_HAS_EXPIRED') return 'its certificate has expired: tell its operator'
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return 'its certificate is for other hosts: is the address right?'
  return 'is the address right, and can it be reached from here?'
}
