import type { Agent, IncomingHttpHeaders, IncomingMessage, RequestOptions } from 'node:http'
import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'

export interface Message {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Path from the root of the server, with the query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string | number | string[]>>
  readonly body?: string | Uint8Array | undefined
  /** The answer stays open for long: a watch, a log. */
  readonly isStream?: boolean
}

export interface Deadlines {
  /** Milliseconds until the connection stands, TLS included. */
  readonly connect: number
  /** Milliseconds from then on until the answer begins, and between two parts of it. */
  readonly answer: number
  /** Milliseconds for both. */
  readonly whole: number
}

/** There was no answer in time. */
export class NoAnswer extends Error {
  readonly isConnected: boolean
  readonly milliseconds: number

  constructor(isConnected: boolean, milliseconds: number) {
    super(`no answer within ${milliseconds / 1000} s`)
    this.isConnected = isConnected
    this.milliseconds = milliseconds
  }
}

/** An answer is longer than any that is meant. */
export class TooLong extends Error {
  constructor(limit: number) {
    super(`its answer is larger than ${limit / 1024 / 1024} MiB`)
  }
}

/**
 * Sends one request, once, and returns the answer when its head has arrived, whatever its status. A server may have a
 * path of its own, as behind a gateway: `https://rancher.example.com/k8s/clusters/c-1`. Rejects with NoAnswer, or with
 * Node's error for the connection (`failureOf`). Aborting the signal ends the connection, even later, while the answer
 * is read.
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
    const sent = request(options)
    const end = performance.now() + deadlines.whole
    let timer: NodeJS.Timeout | undefined
    const expect = (isConnected: boolean, milliseconds: number) => {
      clearTimeout(timer)
      const limit = Math.min(milliseconds, Math.max(0, end - performance.now()))
      // Timers take 31 bits: no limit is the longest of them.
      if (limit === Number.POSITIVE_INFINITY) return
      timer = setTimeout(() => sent.destroy(new NoAnswer(isConnected, limit)), limit)
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
      resolve(response)
    })
    sent.on('error', error => {
      clearTimeout(timer)
      reject(error)
    })
    sent.end(body)
  })
}

/** Node takes longer with a URL. */
function addressOf({ protocol, hostname, port, pathname }: URL, path: string): RequestOptions {
  return {
    protocol,
    // An IPv6 address stands in brackets only within a URL.
    hostname: hostname.replace(/^\[|\]$/g, ''),
    ...(port !== '' && { port }),
    path: `${pathname.replace(/\/$/, '')}${path}`,
  }
}

/** Silences that an answer may take altogether, besides what its length takes. */
const SILENCES = 3

/**
 * The whole answer; rejects when it breaks off, with NoAnswer when nothing comes for `silence`
 * milliseconds, or less than `slowest` bytes per millisecond for three times as long, and with
 * TooLong for more than `limit` bytes.
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

/** Reads the whole answer as text; rejects as `readBody` does. */
export const readText = async (response: IncomingMessage, silence: number): Promise<string> =>
  (await readBody(response, { silence })).toString('utf8')

/** An answer that was read to its end. */
export interface WholeAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

/** Bytes per millisecond. */
const SLOWEST = 16

/**
 * Sends one request to an address, once, and reads the whole answer, whatever its status. `silence` is for the
 * connection, the answer and each pause in it, and the answer must not trickle. Rejects as `exchange` and `readBody`
 * do.
 */
export async function exchangeWhole(
  { url, method, headers, body }: Pick<Message, 'method' | 'headers' | 'body'> & { readonly url: URL },
  agent: Agent,
  { silence, limit }: { readonly silence: number; readonly limit: number },
  signal: AbortSignal | undefined,
): Promise<WholeAnswer> {
  const length = body !== undefined && { 'content-length': Buffer.byteLength(body) }
  const message = { method, path: `${url.pathname}${url.search}`, headers: { ...headers, ...length }, body }
  const deadlines = { connect: silence, answer: silence, whole: Number.POSITIVE_INFINITY }
  const response = await exchange(new URL('/', url), message, agent, deadlines, signal)
  const read = await readBody(response, { silence, limit, slowest: SLOWEST })
  return { status: response.statusCode ?? 0, headers: response.headers, body: read }
}
