import { setMaxListeners } from 'node:events'
import type { Agent, IncomingHttpHeaders, IncomingMessage, RequestOptions } from 'node:http'
import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'

export interface Message {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Path from the root of the server, with the query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string | number | string[]>>
  readonly body?: string | Uint8Array | undefined
  /** True if the response stays open for a long time, such as a watch or a log. */
  readonly isStream?: boolean
}

export interface Deadlines {
  /** Timeout for establishing the connection, including TLS, in milliseconds. */
  readonly connect: number
  /** Timeout for the start of the response after connecting, and for each pause in the response, in milliseconds. */
  readonly answer: number
  /** Timeout for connecting and receiving the start of the response, in milliseconds. */
  readonly whole: number
}

/** Error of a request that gets no response in time. */
export class NoAnswer extends Error {
  readonly isConnected: boolean
  readonly milliseconds: number

  constructor(isConnected: boolean, milliseconds: number) {
    super(`no answer within ${milliseconds / 1000} s`)
    this.isConnected = isConnected
    this.milliseconds = milliseconds
  }
}

/** Error of a response that exceeds the size limit. */
export class TooLong extends Error {
  constructor(limit: number) {
    super(`its answer is larger than ${limit / 1024 / 1024} MiB`)
  }
}

/**
 * Sends a request without retries, and returns the response as soon as its headers arrive, whatever its status. The
 * server address may have a path, as behind a gateway: `https://rancher.example.com/k8s/clusters/c-1`. Rejects with
 * NoAnswer, or with Node's connection error (`failureOf`). Aborting the signal ends the connection, even later, while
 * the response is read.
 */
export function exchange(
  server: URL,
  message: Message,
  agent: Agent,
  deadlines: Deadlines,
  signal: AbortSignal | undefined,
): Promise<IncomingMessage> {
  const { method, path, headers, body, isStream = false } = message
  const options: RequestOptions = {
    ...addressOf(server, path),
    method,
    agent,
    headers,
    ...(signal !== undefined && { signal }),
  }
  const request = server.protocol === 'https:' ? httpsRequest : httpRequest
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted()
    const sent = request(options)
    const fail = (error: unknown) => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', stop)
      reject(error)
    }
    // A request that waits for the tunnel of a proxy does not report that it was destroyed until the proxy answers.
    const giveUp = (error: Error) => {
      fail(error)
      sent.destroy(error)
    }
    const stop = () => giveUp(signal?.reason)
    // All calls of a command share its signal, so many listeners are not a leak.
    if (signal) setMaxListeners(0, signal)
    signal?.addEventListener('abort', stop, { once: true })
    const end = performance.now() + deadlines.whole
    let timer: NodeJS.Timeout | undefined
    const expect = (isConnected: boolean, milliseconds: number) => {
      clearTimeout(timer)
      const limit = Math.min(milliseconds, Math.max(0, end - performance.now()))
      // Node's timers are limited to 31 bits, so an infinite timeout sets no timer.
      if (limit === Number.POSITIVE_INFINITY) return
      timer = setTimeout(() => giveUp(new NoAnswer(isConnected, limit)), limit)
    }
    expect(false, deadlines.connect)
    sent.on('socket', socket => {
      const isSecure = 'encrypted' in socket
      if (sent.reusedSocket || !socket.connecting) expect(true, deadlines.answer)
      else socket.once(isSecure ? 'secureConnect' : 'connect', () => expect(true, deadlines.answer))
      // Detects that the other side disappeared without closing the connection.
      if (isStream) socket.setKeepAlive(true, 15_000)
    })
    sent.on('response', response => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', stop)
      resolve(response)
    })
    sent.on('error', fail)
    sent.end(body)
  })
}

/** Returns the address as request options, which Node handles faster than a URL. */
function addressOf({ protocol, hostname, port, pathname }: URL, path: string): RequestOptions {
  return {
    protocol,
    // Only URLs put an IPv6 address in brackets.
    hostname: hostname.replace(/^\[|\]$/g, ''),
    ...(port !== '' && { port }),
    path: `${pathname.replace(/\/$/, '')}${path}`,
  }
}

/**
 * Allowance for pauses in a response, as a multiple of `silence`: the response may take this much longer than the
 * minimum rate requires for its size.
 */
const SILENCES = 3

/**
 * Reads the full response. Rejects if the connection is lost; with NoAnswer if no data arrives for `silence`
 * milliseconds, or if the average rate is below `slowest` bytes per millisecond after an allowance of three times
 * `silence`; and with TooLong for more than `limit` bytes.
 */
export async function readBody(
  response: IncomingMessage,
  {
    silence,
    limit = Number.POSITIVE_INFINITY,
    slowest,
  }: { readonly silence: number; readonly limit?: number; readonly slowest?: number },
): Promise<Buffer> {
  const began = performance.now()
  const patience = SILENCES * silence
  const parts: Buffer[] = []
  let size = 0
  const timer = setTimeout(() => response.destroy(new NoAnswer(true, silence)), silence)
  try {
    for await (const part of response) {
      parts.push(part)
      size += part.length
      if (size > limit) throw new TooLong(limit)
      if (slowest !== undefined && performance.now() - began > patience + size / slowest)
        throw new NoAnswer(true, patience)
      timer.refresh()
    }
  } finally {
    clearTimeout(timer)
  }
  return Buffer.concat(parts)
}

/** Reads the full response as text; rejects as `readBody` does. */
export const readText = async (response: IncomingMessage, silence: number): Promise<string> =>
  (await readBody(response, { silence })).toString('utf8')

/** A response that was read to its end. */
export interface WholeAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

/** Minimum average rate of a transfer, in bytes per millisecond. */
const SLOWEST = 16

/**
 * Sends a request to an address without retries, and reads the full response, whatever its status. `silence` is the
 * timeout for the connection, for the response and for each pause in the response. A request or response below the
 * minimum rate fails, too. Rejects as `exchange` and `readBody` do.
 */
export async function exchangeWhole(
  { url, method, headers, body }: Pick<Message, 'method' | 'headers' | 'body'> & { readonly url: URL },
  agent: Agent,
  { silence, limit }: { readonly silence: number; readonly limit: number },
  signal: AbortSignal | undefined,
): Promise<WholeAnswer> {
  const size = body === undefined ? 0 : Buffer.byteLength(body)
  const length = body !== undefined && { 'content-length': size }
  const message = { method, path: `${url.pathname}${url.search}`, headers: { ...headers, ...length }, body }
  // The response begins only after the body was sent.
  const deadlines = { connect: silence, answer: silence + size / SLOWEST, whole: Number.POSITIVE_INFINITY }
  const response = await exchange(new URL('/', url), message, agent, deadlines, signal)
  const read = await readBody(response, { silence, limit, slowest: SLOWEST })
  return { status: response.statusCode ?? 0, headers: response.headers, body: read }
}
