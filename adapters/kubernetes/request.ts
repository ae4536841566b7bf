import type { IncomingMessage } from 'node:http'
import { unlessAborted } from '../http/abort.ts'
import { backOff, pause, retryAfter } from '../http/back-off.ts'
import { exchange, type Message, NoAnswer, readText } from '../http/exchange.ts'
import { neverSent } from '../http/failure.ts'
import { Slots } from '../http/slots.ts'
import { describeAnswer, type Promised, parseAnswer } from './answers.ts'
import { ClusterError, webhookIn } from './cluster.ts'
import { type Access, type Connection, POOL, refusedCredentials } from './connection.ts'
import { isForeign, toClusterError } from './status.ts'
import { isPassing, toUnreachable } from './unreachable.ts'

/** Time limits of calls and watches, all in milliseconds. */
export interface Limits {
  /** Timeout for establishing the connection. */
  readonly connect: number
  /** Timeout for the start of the response to a read, and between two parts of it. */
  readonly read: number
  /**
   * Timeout for the start of the response to a write, and between two parts of it; a write may wait for admission
   * webhooks of up to 30 s.
   */
  readonly write: number
  /**
   * Time after the start of a call during which the call may be retried. A call whose first attempt timed out without a
   * response is retried once even if this time is over.
   */
  readonly retry: number
  /**
   * Time during which a call may be retried as long as the server has not responded to any call. All these attempts
   * together take no longer than this time, so that a wrong address is reported soon.
   */
  readonly first: number
  /** Approximate pause before the first retry. */
  readonly pause: number
  /**
   * Time for which a watch is retried while the server does not respond. In addition, each call of the watch is retried
   * for `retry`.
   */
  readonly lost: number
  /** Longest silence of a watch before it counts as dead; the server sends a bookmark each minute. */
  readonly silence: number
}

export const LIMITS: Limits = {
  connect: 10_000,
  read: 10_000,
  write: 35_000,
  retry: 30_000,
  first: 8_000,
  pause: 200,
  lost: 45_000,
  silence: 90_000,
}

/** HTTP method of a request to the API server. */
export type Method = Exclude<Message['method'], 'HEAD'>

/** A request and its outcome. Contains no secrets. */
export interface EndedRequest {
  readonly method: Method
  /** Path with the query. */
  readonly path: string
  /** HTTP status; undefined if there was no response. */
  readonly status: number | undefined
  /** Milliseconds until the response started, excluding the wait for a free connection. */
  readonly milliseconds: number
}

/** A call that was being retried, or had no response yet, when its signal was aborted. */
export interface GivenUp {
  readonly method: Method
  readonly path: string
  /** Error of the previous attempt; undefined during the first attempt. */
  readonly failure: ClusterError | undefined
  /** Milliseconds that the last attempt has waited for a response; 0 between two attempts. */
  readonly silence: number
  /** Abort reason of the signal. */
  readonly reason: unknown
}

/**
 * The state of a call between its attempts: the last failure, and the start of the attempt that waits for a response.
 */
interface Progress {
  failure?: ClusterError
  /** Start time of the attempt that is waiting for a response, in milliseconds as in `performance.now()`. */
  sentAt?: number | undefined
}

export interface ApiCall {
  readonly method: Method
  readonly path: string
  /** Body that is sent as JSON. */
  readonly body?: unknown
  /** Media type of the body. Default `application/json`. */
  readonly contentType?: string
  /** Accepted media types of the response, the preferred one first. Default `application/json`. */
  readonly accept?: string | undefined
  readonly signal?: AbortSignal | undefined
  /**
   * Called before a retry if the server may already have carried out the call: a second `create` may find that the
   * object exists.
   */
  readonly onRepeat?: () => void
  /**
   * True if the call continues from a state that the server may no longer have, such as the next page of a list. The
   * call is then not retried after status 410, because the caller has to list again.
   */
  readonly goesOn?: boolean
}

export interface StreamCall extends ApiCall {
  /** True if the response may start at any time, as for the log of a container without output. */
  readonly isPatient?: boolean
}

/**
 * Sends calls to a Kubernetes API server. Retries temporary failures, up to `limits`: the statuses 410, 429 and 5xx,
 * races for a quota, and lost connections. A connection that cannot be opened counts as temporary only if the server
 * has responded to an earlier call. Requests new credentials once if the server rejects them. Throws ClusterErrors, or
 * the signal's abort reason.
 */
export class Client {
  readonly limits: Limits
  readonly #access: Access
  readonly #trace: (exchange: EndedRequest) => void
  readonly #giveUp: (call: GivenUp) => void
  // Waiting for a free connection does not mean that the server is unresponsive, so callers wait here, outside the time
  // limits of a request.
  readonly #slots = new Slots(POOL)
  #connection: Promise<Connection> | undefined
  #hasAnswered = false

  /**
   * Creates a client. Calls `trace` at the end of each request, including retries. Calls `giveUp` for each call that is
   * aborted during a retry or before a response, because its caller does not receive the last failure.
   */
  constructor(
    access: Access,
    limits: Partial<Limits> = {},
    trace: (exchange: EndedRequest) => void = () => {},
    giveUp: (call: GivenUp) => void = () => {},
  ) {
    this.#access = access
    this.#giveUp = giveUp
    this.limits = { ...LIMITS, ...limits }
    this.#trace = trace
  }

  /**
   * Returns the parsed response. Throws a ClusterError with the failure `unreachable`, the address and the status if
   * the response does not have the expected form.
   */
  async json<T>(call: ApiCall, isPromised: Promised<T>): Promise<T> {
    const [status, text] = await this.#send(call, false, async response => {
      return [response.statusCode, await readText(response, this.#answerLimit(call))] as const
    })
    const value = parseAnswer(text)
    if (!isPromised(value)) throw this.unexpected(call, status, describeAnswer(text))
    return value
  }

  /** Returns the error for a response that no Kubernetes API server sends; `what` describes the response. */
  unexpected(
    { method, path }: Pick<ApiCall, 'method' | 'path'>,
    status: number | undefined,
    what: string,
  ): ClusterError {
    const url = `${this.#access.server.origin}${path.split('?', 1)[0]}`
    const message = `\`${method} ${url}\` does not answer as a Kubernetes API server does: status ${status}, ${what}`
    return new ClusterError('unreachable', message, status === undefined ? {} : { status })
  }

  /** Returns the response as a stream. Reading it rejects with Node's error if the connection is lost; see `broken`. */
  async stream(call: StreamCall): Promise<IncomingMessage> {
    const response = await this.#send(call, true, async response => response)
    if (!response.headers['content-type']?.startsWith('text/html')) return response
    // The response is not from an API server; it may be the login page of a proxy.
    response.destroy()
    throw this.unexpected(call, response.statusCode, 'a web page')
  }

  /** Returns the error to throw after reading a stream has failed with `error`. */
  broken(error: unknown, signal: AbortSignal | undefined): unknown {
    return signal?.aborted ? signal.reason : toUnreachable(error, this.#access.server)
  }

  async #send<T>(call: StreamCall, isStream: boolean, read: (response: IncomingMessage) => Promise<T>): Promise<T> {
    const { method, path, signal } = call
    const progress: Progress = {}
    try {
      return await this.#try(call, isStream, read, progress)
    } catch (error) {
      const { failure, sentAt } = progress
      const silence = sentAt === undefined || call.isPatient ? 0 : performance.now() - sentAt
      if (signal?.aborted && (failure || silence > 0))
        this.#giveUp({ method, path, failure, silence, reason: signal.reason })
      throw error
    }
  }

  /** Sends a call repeatedly until there is a response, within limits. Keeps `progress` up to date. */
  async #try<T>(
    call: StreamCall,
    isStream: boolean,
    read: (response: IncomingMessage) => Promise<T>,
    progress: Progress,
  ): Promise<T> {
    const { method, path, signal } = call
    let begin: number | undefined
    const message = toMessage(call, isStream)
    let isFresh = false
    for (let failures = 1; ; failures++) {
      signal?.throwIfAborted()
      const { connection, renew } = await this.#connect(signal)
      const leave = isStream ? () => {} : await this.#slots.enter(signal)
      // The time that a credential plugin takes is not counted as the server's.
      begin ??= performance.now()
      let failure: ClusterError
      let isSilence = false
      const whole = this.#hasAnswered
        ? Number.POSITIVE_INFINITY
        : // A connection that swallows the first request is not yet a server that does not answer.
          Math.max(0, (failures === 1 ? this.limits.first / 2 : this.limits.first) - (performance.now() - begin))
      let wait = backOff(failures, this.limits.pause, 5_000)
      try {
        progress.sentAt = performance.now()
        const response = await this.#exchange(message, connection, call, whole)
        progress.sentAt = undefined
        this.#hasAnswered = true
        const status = response.statusCode ?? 0
        if (status >= 200 && status < 300) return await read(response)
        const body = await readText(response, this.limits.read)
        if (isForeign(status, body)) throw this.unexpected(call, status, describeAnswer(body))
        failure = toClusterError(status, body, `${method} ${path}`)
        if (status === 401 && !isFresh) {
          isFresh = true
          renew()
          continue
        }
        if (status === 401) throw refusedCredentials(this.#access, failure)
        if (!mayPass(status, failures, failure, call)) throw failure
        if (status !== 409 && status !== 429) call.onRepeat?.()
        wait = Math.max(wait, retryAfter(response.headers['retry-after'], Date.now()) ?? 0)
      } catch (error) {
        signal?.throwIfAborted()
        progress.sentAt = undefined
        if (error instanceof ClusterError || error instanceof TypeError || error instanceof RangeError) throw error
        isSilence = error instanceof NoAnswer
        failure = toUnreachable(this.#sinceBegin(error, begin), this.#access.server)
        if (!isPassing(error) || (!this.#hasAnswered && !isSilence && neverSent(error))) throw failure
        if (!neverSent(error)) call.onRepeat?.()
      } finally {
        leave()
      }
      const limit = this.#hasAnswered ? this.limits.retry : this.limits.first
      // A single timeout may exceed the limit, and may affect only one connection, so the call is retried once anyway.
      if (performance.now() - begin + wait > limit && !(this.#hasAnswered && isSilence && failures === 1)) throw failure
      progress.failure = failure
      await pause(wait, signal)
    }
  }

  /**
   * Returns the error for a timeout. Until the server has responded to any call, the error states the total time of all
   * attempts.
   */
  #sinceBegin(error: unknown, begin: number): unknown {
    if (this.#hasAnswered || !(error instanceof NoAnswer)) return error
    return new NoAnswer(error.isConnected, Math.min(this.limits.first, performance.now() - begin))
  }

  async #exchange(message: Message, connection: Connection, call: StreamCall, whole: number): Promise<IncomingMessage> {
    const { method, path, signal } = call
    const answer = call.isPatient ? Number.POSITIVE_INFINITY : this.#answerLimit(call)
    const begin = performance.now()
    let status: number | undefined
    try {
      const deadlines = { connect: this.limits.connect, answer, whole }
      const agent = message.isStream ? connection.streams : connection.calls
      const headers = { ...connection.headers, ...message.headers }
      const response = await exchange(this.#access.server, { ...message, headers }, agent, deadlines, signal)
      status = response.statusCode
      return response
    } finally {
      this.#trace({ method, path, status, milliseconds: performance.now() - begin })
    }
  }

  #answerLimit(call: ApiCall): number {
    return call.method === 'GET' ? this.limits.read : this.limits.write
  }

  /**
   * Returns the connection shared by all calls, and a function that renews it. The first call with rejected credentials
   * renews the connection for all calls.
   */
  async #connect(signal: AbortSignal | undefined): Promise<{ connection: Connection; renew: () => void }> {
    const used = this.#connection ?? this.#begin()
    // A credential plugin may wait for the user, so the caller can abort the wait.
    const connection = await unlessAborted(used, signal)
    const renew = () => {
      if (this.#connection === used) void this.#begin(connection)
    }
    return { connection, renew }
  }

  #begin(rejected?: Connection): Promise<Connection> {
    const connecting = this.#access.connect(rejected)
    this.#connection = connecting
    // The next call connects again.
    connecting.catch(() => {
      if (this.#connection === connecting) this.#connection = undefined
    })
    return connecting
  }
}

function toMessage(
  { method, path, body, contentType, accept = 'application/json' }: ApiCall,
  isStream: boolean,
): Message {
  const text = body === undefined ? undefined : JSON.stringify(body)
  const headers = {
    accept,
    'user-agent': 'devctl',
    ...(text !== undefined && {
      'content-type': contentType ?? 'application/json',
      'content-length': Buffer.byteLength(text),
    }),
  }
  return { method, path, headers, body: text, isStream }
}

/**
 * Start of the message with which the server refuses a call because another call has used the quota of the namespace at
 * the same moment. The server has not carried out the refused call.
 */
const QUOTA_RACE = 'Operation cannot be fulfilled on resourcequotas '

/**
 * Returns true if a retry can succeed: the server is busy or is starting, no longer has the state of a list, or refused
 * the call because another call used the quota of the namespace at the same moment.
 */
function mayPass(status: number, failures: number, failure: ClusterError, { goesOn = false, path }: ApiCall): boolean {
  if (status === 410) return !goesOn
  if (status === 409) return failure.message.startsWith(QUOTA_RACE) && !path.includes('/resourcequotas/')
  if (status !== 429 && ![500, 502, 503, 504].includes(status)) return false
  // A webhook that keeps failing is unlikely to recover, so it gets only three attempts.
  return failure.failure === 'unavailable' && (webhookIn(failure.message) === undefined || failures < 3)
}
