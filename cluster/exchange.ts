import type { IncomingMessage, RequestOptions } from 'node:http'
import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { Connection } from './connection.ts'

export interface Message {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** From the root of the server, with the query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string | number>>
  readonly body: string | undefined
  /** The answer stays open for long: a watch, a log. */
  readonly isStream: boolean
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
    super(`no answer in ${milliseconds / 1000} s`)
    this.isConnected = isConnected
    this.milliseconds = milliseconds
  }
}

/**
 * Sends one request, once, and gives the answer when its head is there, whatever its status. Rejects with NoAnswer, or with what Node says
 * of the connection. A signal that is aborted ends the connection, also later, while the answer is read.
 */
export function exchange(
  server: URL,
  message: Message,
  connection: Connection,
  deadlines: Deadlines,
  signal: AbortSignal | undefined,
): Promise<IncomingMessage> {
  const { method, path, body, isStream } = message
  const options: RequestOptions = {
    ...addressOf(server, path),
    method,
    agent: isStream ? connection.streams : connection.calls,
    headers: { ...connection.headers, ...message.headers },
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
      // Also an end to a limit that is none: timers take 31 bits.
      if (limit === Number.POSITIVE_INFINITY) return
      timer = setTimeout(() => sent.destroy(new NoAnswer(isConnected, limit)), limit)
    }
    expect(false, deadlines.connect)
    sent.on('socket', socket => {
      const isSecure = 'encrypted' in socket
      if (sent.reusedSocket || !socket.connecting) expect(true, deadlines.answer)
      else socket.once(isSecure ? 'secureConnect' : 'connect', () => expect(true, deadlines.answer))
      // Finds out when the other end is gone without a word.
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

/** A server may have a path of its own, as behind a gateway: `https://rancher.example.com/k8s/clusters/c-1`. Node takes longer with a URL. */
function addressOf({ protocol, hostname, port, pathname }: URL, path: string): RequestOptions {
  return {
    protocol,
    // An IPv6 address stands in brackets only within a URL.
    hostname: hostname.replace(/^\[|\]$/g, ''),
    ...(port !== '' && { port }),
    path: `${pathname.replace(/\/$/, '')}${path}`,
  }
}

/** The whole answer as text; rejects when it breaks off, or with NoAnswer when nothing comes for `milliseconds`. */
export async function readText(response: IncomingMessage, milliseconds: number): Promise<string> {
  const parts: Buffer[] = []
  const timer = setTimeout(() => response.destroy(new NoAnswer(true, milliseconds)), milliseconds)
  try {
    for await (const part of response) {
      parts.push(part)
      timer.refresh()
    }
  } finally {
    clearTimeout(timer)
  }
  return Buffer.concat(parts).toString('utf8')
}
