import type { ClientRequest, IncomingMessage, OutgoingHttpHeaders, RequestOptions } from 'node:http'
import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { Duplex } from 'node:stream'
import { ClusterError } from '../../../adapters/kubernetes/cluster.ts'
import type { Access, Connection } from '../../../adapters/kubernetes/connection.ts'
import { toUnreachable } from '../../../adapters/kubernetes/unreachable.ts'
import { Refusal } from './status.ts'

export interface UpstreamCall {
  readonly method: string
  /** Path from the root of the API, with the query. */
  readonly path: string
  /** Request headers, without credentials. */
  readonly headers: OutgoingHttpHeaders
  /** A buffer, which can be sent again, or a stream, which cannot. */
  readonly body: Buffer | IncomingMessage | undefined
  /** The answer stays open for long: it gets a connection of its own. */
  readonly isStream: boolean
  readonly signal: AbortSignal
}

/** The answer, or the connection that both ends speak another protocol on from now. */
export type UpstreamAnswer =
  | { readonly response: IncomingMessage; readonly socket?: undefined }
  | { readonly response: IncomingMessage; readonly socket: Duplex; readonly head: Buffer }

/** Milliseconds until a connection must stand, as for the cluster's own calls. */
const CONNECT = 10_000

/**
 * The real API server, with the user's credentials. Tries no call twice that the server may have
 * done, as kubectl itself would not.
 */
export class Upstream {
  readonly #access: Access
  #connection: Promise<Connection> | undefined

  constructor(access: Access) {
    this.#access = access
  }

  /**
   * Throws a Refusal when there is no connection or no credentials. Fetches credentials that are
   * refused again, once.
   */
  async send(call: UpstreamCall): Promise<UpstreamAnswer> {
    const used = this.#connect()
    let answer = await this.#exchange(call, used)
    if (answer.response.statusCode === 401 && (call.body === undefined || Buffer.isBuffer(call.body))) {
      answer.response.resume()
      // The first of those that are refused does it for all of them.
      if (this.#connection === used) this.#connection = this.#access.connect(true)
      answer = await this.#exchange(call, this.#connect())
    }
    return answer
  }

  /** The parsed answer to a GET; undefined when it is none with status 200. */
  async json(path: string, accept: string, signal: AbortSignal): Promise<unknown> {
    const call = { method: 'GET', path, headers: { accept }, body: undefined, isStream: false, signal }
    const { response } = await this.send(call)
    const body = await readBody(response, Number.POSITIVE_INFINITY)
    return response.statusCode === 200 ? JSON.parse(body.toString('utf8')) : undefined
  }

  #connect(): Promise<Connection> {
    this.#connection ??= this.#access.connect(false)
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
        // A kept connection that the server had closed meanwhile: nothing has reached it.
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
    // A request's own impersonation (`--as`) takes precedence over that of the context.
    headers: {
      ...(hasImpersonation(headers) ? withoutImpersonation(connection.headers) : connection.headers),
      ...headers,
    },
  }
  return new Promise((resolve, reject) => {
    const request = send(new URL(`${server.origin}${server.pathname.replace(/\/$/, '')}${path}`), options)
    begun(request)
    request.setNoDelay(true)
    const timer = setTimeout(
      () => request.destroy(Object.assign(new Error('no connection in time'), { code: 'ETIMEDOUT' })),
      CONNECT,
    )
    request.on('socket', socket => {
      const stands = () => clearTimeout(timer)
      if (!socket.connecting) stands()
      else socket.once('encrypted' in socket ? 'secureConnect' : 'connect', stands)
      if (isStream) socket.setKeepAlive(true, 15_000)
    })
    request.on('response', response => resolve({ response }))
    request.on('upgrade', (response, socket, head) => resolve({ response, socket, head }))
    request.on('error', reject)
    request.on('close', () => clearTimeout(timer))
    if (body === undefined || Buffer.isBuffer(body)) request.end(body)
    else body.pipe(request)
  })
}

const isImpersonation = (name: string) => name.toLowerCase().startsWith('impersonate-')
const hasImpersonation = (headers: OutgoingHttpHeaders) => Object.keys(headers).some(isImpersonation)
const withoutImpersonation = (headers: Connection['headers']) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !isImpersonation(name)))

/** A whole body. Throws a Refusal when it is longer than `most` bytes. */
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
