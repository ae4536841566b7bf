import type { ClientRequest, IncomingMessage, OutgoingHttpHeaders, RequestOptions } from 'node:http'
import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { Duplex } from 'node:stream'
import { ClusterError } from '../cluster.ts'
import type { Access, Connection } from '../connection.ts'
import { toUnreachable } from '../unreachable.ts'
import { Refusal } from './status.ts'

export interface UpstreamCall {
  readonly method: string
  /** Path from the root of the API, with the query. */
  readonly path: string
  /** Request headers, without credentials. */
  readonly headers: OutgoingHttpHeaders
  /** A buffer, which can be sent again, or a stream, which cannot. */
  readonly body: Buffer | IncomingMessage | undefined
  /** True if the response stays open for long, such as a watch: it gets a separate connection. */
  readonly isStream: boolean
  readonly signal: AbortSignal
}

/** A response. After an upgrade, also the socket of the connection, on which both ends now speak another protocol. */
export type UpstreamAnswer =
  | { readonly response: IncomingMessage; readonly socket?: undefined }
  | { readonly response: IncomingMessage; readonly socket: Duplex; readonly head: Buffer }

/** Timeout for connecting in milliseconds, the same as for devctl's own requests to the cluster. */
const CONNECT = 10_000

/**
 * Client for the real API server, with the user's credentials. Like kubectl, it never retries a call that the server
 * may already have executed.
 */
export class Upstream {
  readonly #access: Access
  #connection: Promise<Connection> | undefined

  constructor(access: Access) {
    this.#access = access
  }

  /**
   * Sends a request. Throws a Refusal if there is no connection or no credentials. If the server rejects the
   * credentials, fetches new ones and tries once more.
   */
  async send(call: UpstreamCall): Promise<UpstreamAnswer> {
    const used = this.#connect()
    let answer = await this.#exchange(call, used)
    if (answer.response.statusCode === 401 && (call.body === undefined || Buffer.isBuffer(call.body))) {
      answer.response.resume()
      // The first request with rejected credentials renews them for all.
      if (this.#connection === used) this.#connection = this.#access.connect(await used)
      answer = await this.#exchange(call, this.#connect())
    }
    return answer
  }

  /** Sends a GET request and returns the parsed response; undefined unless its status is 200. */
  async json(path: string, accept: string, signal: AbortSignal): Promise<unknown> {
    const call = { method: 'GET', path, headers: { accept }, body: undefined, isStream: false, signal }
    const { response } = await this.send(call)
    const body = await readBody(response, Number.POSITIVE_INFINITY)
    return response.statusCode === 200 ? JSON.parse(body.toString('utf8')) : undefined
  }

  #connect(): Promise<Connection> {
    this.#connection ??= this.#access.connect()
    return this.#connection
  }

  async #exchange(call: UpstreamCall, connecting: Promise<Connection>): Promise<UpstreamAnswer> {
    let connection: Connection
    try {
      connection = await connecting
    } catch (error) {
      if (this.#connection === connecting) this.#connection = undefined
      if (error instanceof ClusterError) throw new Refusal(401, 'Unauthorized', error.message)
      throw error
    }
    for (;;) {
      let sent: ClientRequest | undefined
      try {
        return await attempt(this.#access.server, call, connection, request => {
          sent = request
        })
      } catch (error) {
        call.signal.throwIfAborted()
        // A keep-alive connection that the server closed in the meantime: the request did not reach the server.
        const isStale = sent?.reusedSocket && (error as NodeJS.ErrnoException).code === 'ECONNRESET'
        const isSafe = call.body === undefined || (Buffer.isBuffer(call.body) && call.method !== 'POST')
        if (isStale && isSafe) continue
        throw new Refusal(503, 'ServiceUnavailable', toUnreachable(error, this.#access.server).message)
      }
    }
  }
}

function attempt(
  server: URL,
  { method, path, headers, body, isStream, signal }: UpstreamCall,
  connection: Connection,
  begun: (request: ClientRequest) => void,
): Promise<UpstreamAnswer> {
  const send = server.protocol === 'https:' ? httpsRequest : httpRequest
  const options: RequestOptions = {
    method,
    signal,
    agent: isStream ? connection.streams : connection.calls,
    // Impersonation in the request (`--as`) takes precedence over the impersonation of the context.
    headers: {
      ...(hasImpersonation(headers) ? withoutImpersonation(connection.headers) : connection.headers),
      ...headers,
    },
  }
  return new Promise((resolve, reject) => {
    signal.throwIfAborted()
    const request = send(new URL(`${server.origin}${server.pathname.replace(/\/$/, '')}${path}`), options)
    begun(request)
    request.setNoDelay(true)
    // A request that waits for the tunnel of a proxy does not report that it was destroyed until the proxy answers.
    const giveUp = (error: Error) => {
      reject(error)
      request.destroy(error)
    }
    const timer = setTimeout(
      () => giveUp(Object.assign(new Error('no connection in time'), { code: 'ETIMEDOUT' })),
      CONNECT,
    )
    const stop = () => giveUp(signal.reason)
    signal.addEventListener('abort', stop, { once: true })
    request.on('socket', socket => {
      const stands = () => clearTimeout(timer)
      if (!socket.connecting) stands()
      else socket.once('encrypted' in socket ? 'secureConnect' : 'connect', stands)
      if (isStream) socket.setKeepAlive(true, 15_000)
    })
    request.on('response', response => resolve({ response }))
    request.on('upgrade', (response, socket, head) => resolve({ response, socket, head }))
    request.on('error', reject)
    request.on('close', () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', stop)
    })
    if (body === undefined || Buffer.isBuffer(body)) request.end(body)
    else body.pipe(request)
  })
}

const isImpersonation = (name: string) => name.toLowerCase().startsWith('impersonate-')
const hasImpersonation = (headers: OutgoingHttpHeaders) => Object.keys(headers).some(isImpersonation)
const withoutImpersonation = (headers: Connection['headers']) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !isImpersonation(name)))

/** Reads the full body of a message. Throws a Refusal if it exceeds `most` bytes. */
export async function readBody(message: IncomingMessage, most: number): Promise<Buffer> {
  const parts: Buffer[] = []
  let length = 0
  for await (const part of message as AsyncIterable<Buffer>) {
    length += part.length
    if (length > most) throw new Refusal(413, 'RequestEntityTooLarge', `the object has more than ${most} bytes`)
    parts.push(part)
  }
  return Buffer.concat(parts)
}
