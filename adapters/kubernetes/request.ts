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

/** All in milliseconds. */
export interface Limits {
  /** Longest time until the connection is established. */
  readonly connect: number
  /** Longest time until the answer to a read begins, and between two parts of it. */
  readonly read: number
  /**
   * Longest time until the answer to a write begins, and between two parts of it; a write may wait for admission
   * webhooks of up to 30 s.
   */
  readonly write: number
  /**
   * Time after the beginning of a call in which it may still be sent again; after a first attempt without an answer it
   * is sent once more in any case.
   */
  readonly retry: number
  /**
   * Time in which a call may still be sent again while the server has not answered anything yet, and limit for all
   * these attempts together: a wrong address must show soon.
   */
  readonly first: number
  /** About the first pause before it is sent again. */
  readonly pause: number
  /**
   * Time for which a watch keeps trying after its first failure without an answer in between. Each call of it is
   * retried for `retry` by itself.
   */
  readonly lost: number
  /** Longest silence of a watch before it counts as dead: the server sends a bookmark each minute. */
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

/** The method of a request to the API server. */
export type Method = Exclude<Message['method'], 'HEAD'>

/** A request and its outcome; nothing in it is secret. */
export interface EndedRequest {
  readonly method: Method
  /** Path with the query. */
  readonly path: string
  /** Undefined when there was no answer. */
  readonly status: number | undefined
  /** Milliseconds until the answer began, not counting the wait for a free connection. */
  readonly milliseconds: number
}

/** A call that was being tried again, or had no answer yet, when its signal was aborted. */
export interface GivenUp {
  readonly method: Method
  readonly path: string
  /** The error of the previous attempt; undefined if the first one was not over. */
  readonly failure: ClusterError | undefined
  /** Milliseconds for which the last attempt had no answer; 0 between two attempts. */
  readonly silence: number
  /** The signal's. */
  readonly reason: unknown
}

/** The progress of a call. */
interface Progress {
  failure?: ClusterError
  /** Time at which the attempt was sent that has no answer yet. */
  sentAt?: number | undefined
}

export interface ApiCall {
  readonly method: Method
  readonly path: string
  /** Sent as JSON. */
  readonly body?: unknown
  /** Default `application/json`. */
  readonly contentType?: string
  /** The media types of the response, the preferred one first. Default `application/json`. */
  readonly accept?: string | undefined
  readonly signal?: AbortSignal | undefined
  /**
   * Called before the call is sent again though the server may have done it already: a second
   * `create` will find the object there.
   */
  readonly onRepeat?: () => void
  /**
   * True if the call continues from a state that the server may no longer have: the caller handles 410 and lists again.
   */
  readonly goesOn?: boolean
}

export interface StreamCall extends ApiCall {
  /** The answer may take as long as it likes to begin: the log of a container that is silent. */
  readonly isPatient?: boolean
}

/**
 * Sends calls to a Kubernetes API server. What may pass is tried again, within limits: 410, 429 and
 * 5xx, connections that are cut or, once the server has answered anything, cannot be made.
 * Credentials that are refused are fetched again, once. Throws ClusterErrors, or the reason of the
 * signal.
 */
export class Client {
  readonly limits: Limits
  readonly #access: Access
  readonly #trace: (exchange: EndedRequest) => void
  readonly #giveUp: (call: GivenUp) => void
  // Waiting for a connection is not a sign of a server that does not answer, so it is done here and
  // not within the time limits of a request.
  readonly #slots = new Slots(POOL)
  #connection: Promise<Connection> | undefined
  #hasAnswered = false

  /**
   * `trace` is called for every request when it is over, those that are sent again included;
   * `giveUp` of calls whose last failure their caller does not see.
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
   * The answer, parsed. Throws `unreachable`, with the address and the status, when it is not what
   * the API promises.
   */
  async json<T>(call: ApiCall, isPromised: Promised<T>): Promise<T> {
    const [status, text] = await this.#send(call, false, async response => {
      return [response.statusCode, await readText(response, this.#answerLimit(call))] as const
    })
    const value = parseAnswer(text)
    if (!isPromised(value)) throw this.unexpected(call, status, describeAnswer(text))
    return value
  }

  /** The error for an answer that no Kubernetes API server gives; `what` describes the answer. */
  unexpected(
    { method, path }: Pick<ApiCall, 'method' | 'path'>,
    status: number | undefined,
    what: string,
  ): ClusterError {
    const url = `${this.#access.server.origin}${path.split('?', 1)[0]}`
    const message = `\`${method} ${url}\` does not answer as a Kubernetes API server does: status ${status}, ${what}`
    return new ClusterError('unreachable', message, status === undefined ? {} : { status })
  }

  /**
   * The answer while it comes. Reading it rejects as Node does when it breaks off; see `broken`.
   */
  async stream(call: StreamCall): Promise<IncomingMessage> {
    const response = await this.#send(call, true, async response => response)
    if (!response.headers['content-type']?.startsWith('text/html')) return response
    // Of something that is not an API server, such as the login of a proxy.
    response.destroy()
    throw this.unexpected(call, response.statusCode, 'a web page')
  }

  /** The error to throw when reading a stream has failed with `error`. */
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

  /**
   * Sends a call until it is answered, within limits; `progress` says at any time how far it is.
   */
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
      // A credential plugin may take its time: it is not the server's.
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
        if (status !== 429) call.onRepeat?.()
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
      // Silence may last longer than the limit by itself, and be one connection's: it is tried
      // again once all the same.
      if (performance.now() - begin + wait > limit && !(this.#hasAnswered && isSilence && failures === 1)) throw failure
      progress.failure = failure
      await pause(wait, signal)
    }
  }

  /** Silence before the first answer of all, reported with the time of all attempts. */
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
   * The connection that all calls share, and how to have another one, which the first of those that
   * are refused does for all of them.
   */
  async #connect(signal: AbortSignal | undefined): Promise<{ connection: Connection; renew: () => void }> {
    this.#connection ??= this.#access.connect(false)
    const used = this.#connection
    const renew = () => {
      if (this.#connection === used) this.#connection = this.#access.connect(true)
    }
    try {
      // A credential plugin may wait for a person; its caller can give up.
      return { connection: await unlessAborted(used, signal), renew }
    } catch (error) {
      // The next call asks again.
      if (!signal?.aborted && this.#connection === used) this.#connection = undefined
      throw error
    }
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

/** A server that is busy, on its way up, or has lost its memory of a moment ago. */
function mayPass(status: number, failures: number, failure: ClusterError, { goesOn = false }: ApiCall): boolean {
  if (status === 410) return !goesOn
  if (status !== 429 && ![500, 502, 503, 504].includes(status)) return false
  // A webhook that fails often stays so: three attempts.
  return failure.failure === 'unavailable' && (webhookIn(failure.message) === undefined || failures < 3)
}
