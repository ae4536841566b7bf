import type { IncomingMessage } from 'node:http'
import type { WebSocket } from 'ws'
import { NoAnswer, readText } from '../http/exchange.ts'
import { pathOf } from './address.ts'
import { type CallOptions, ClusterError } from './cluster.ts'
import { type Access, type Connection, refusedCredentials } from './connection.ts'
import { toClusterError } from './status.ts'
import { toUnreachable } from './unreachable.ts'

/** All in milliseconds. */
export interface SocketLimits {
  /** Longest time until the server has accepted the connection. */
  readonly handshake: number
  /** Interval between two pings; a connection that misses two answers in a row is dead. */
  readonly ping: number
}

export const SOCKET_LIMITS: SocketLimits = { handshake: 10_000, ping: 15_000 }

/** A subresource of a Pod that talks in channels over a WebSocket. */
export interface PodSocketTarget {
  readonly pod: string
  readonly namespace: string
  readonly subresource: 'exec' | 'portforward'
  readonly query: readonly (readonly [name: string, value: string])[]
  /** The protocols that we know, the best first. */
  readonly protocols: readonly string[]
}

/** The user of a PodSocket. Each message belongs to one channel. */
export interface PodSocketUser {
  take(channel: number, content: Buffer): void
  /** Called once: the connection is closed; with an error unless one of both ends closed it. */
  end(error: Error | undefined): void
}

/** The most bytes in a message. */
const FRAME = 64 * 1024
/** Messages of fewer bytes are not worth a buffer that is used again. */
const SMALL = 16 * 1024
/**
 * Buffers of messages that are kept to be used again: new ones for a large file cost the garbage collector a second of
 * 500 MB.
 */
const SPARE = 80
/**
 * Bytes that can be in transit without being read: a process that reads nothing makes the server stop reading, too, and
 * then it answers no ping. Such a connection gets more time.
 */
const UNREAD = 64 * 1024
const MISSED = 2
const MISSED_WHILE_HELD = 20

/**
 * Opens a WebSocket to a Pod with the connection and the credentials of the cluster. Calls `use` when the WebSocket is
 * open, before the first message. Rejects with a ClusterError if the server does not accept it, or with the reason of
 * the signal; the signal also ends the open connection.
 */
export async function openPodSocket<T>(
  access: Access,
  target: PodSocketTarget,
  use: (socket: PodSocket) => T,
  { signal }: CallOptions,
  limits: SocketLimits,
): Promise<T> {
  const attempt = async (isFresh: boolean) => {
    const [{ WebSocket }, connection] = await Promise.all([import('ws'), access.connect(isFresh)])
    signal?.throwIfAborted()
    return open(WebSocket, access.server, connection, target, use, signal, limits)
  }
  try {
    return await attempt(false)
  } catch (error) {
    // A token that has run out is fetched again, once.
    if ((error as ClusterError).failure !== 'unauthorized') throw error
    return attempt(true).catch(again => {
      const { failure, status } = again as ClusterError // or the reason of the signal, which has neither
      throw failure === 'unauthorized' && status === 401 ? refusedCredentials(access, again) : again
    })
  }
}

function open<T>(
  Socket: typeof WebSocket,
  server: URL,
  { streams, headers }: Connection,
  { pod, namespace, subresource, query, protocols }: PodSocketTarget,
  use: (socket: PodSocket) => T,
  signal: AbortSignal | undefined,
  limits: SocketLimits,
): Promise<T> {
  const path = `${pathOf('v1', { name: 'pods', namespaced: true }, namespace, pod)}/${subresource}`
  const words = query.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&')
  const address = `${server.href.replace(/\/$/, '').replace(/^http/, 'ws')}${path}?${words}`
  const socket = new Socket(address, [...protocols], {
    agent: streams,
    headers: { ...headers, 'user-agent': 'devctl' },
    perMessageDeflate: false,
    ...(address.startsWith('wss:') && { generateMask: noMask }),
  })
  return new Promise((resolve, reject) => {
    const abort = () => socket.terminate()
    signal?.addEventListener('abort', abort, { once: true })
    const late = setTimeout(() => {
      fail(toUnreachable(new NoAnswer(false, limits.handshake), server))
      socket.terminate()
    }, limits.handshake)
    const fail = (error: unknown) => {
      clearTimeout(late)
      signal?.removeEventListener('abort', abort)
      reject(signal?.aborted ? signal.reason : error)
    }
    socket.once('unexpected-response', async (_, response: IncomingMessage) => {
      const body = await readText(response, limits.handshake).catch(() => '')
      fail(refusedUpgrade(response.statusCode ?? 0, body, path, server))
      socket.terminate()
    })
    socket.on('error', error => fail(toUnreachable(error, server)))
    socket.once('open', () => {
      socket.removeAllListeners('error')
      clearTimeout(late)
      signal?.removeEventListener('abort', abort)
      resolve(use(new PodSocket(socket, server, limits.ping, signal)))
    })
  })
}

/**
 * Sets an empty mask. Masks protect against proxies that mistake content for requests, but proxies see nothing of a
 * connection with TLS. Masking takes longer than everything else that is done with the bytes.
 */
const noMask = (mask: Buffer): void => void mask.fill(0)

/** The error for an answer other than 101. A success is that of a proxy that removed the upgrade. */
function refusedUpgrade(status: number, body: string, path: string, server: URL): ClusterError {
  if (status >= 400) return toClusterError(status, body, `GET ${path}`)
  const text = `\`${server.origin}\` answered ${status} and opened no WebSocket: a proxy before it may not support them`
  return new ClusterError('unreachable', text, { status })
}

/**
 * An open WebSocket of a Pod's subresource: the first byte of each message names its channel. It
 * sends pings, and ends itself when they are not answered.
 */
export class PodSocket {
  readonly #socket: WebSocket
  readonly #server: URL
  readonly #pinging: NodeJS.Timeout
  readonly #signal: AbortSignal | undefined
  readonly #abort = () => this.terminate(this.#signal?.reason)
  #user: PodSocketUser | undefined
  readonly #spare: Buffer[] = []
  #unanswered = 0
  #sent = 0
  #sentAtPong = 0

  constructor(socket: WebSocket, server: URL, ping: number, signal: AbortSignal | undefined) {
    this.#socket = socket
    this.#server = server
    this.#signal = signal
    socket.on('message', (data: Buffer) => {
      if (data.length > 0) this.#user?.take(data[0]!, data.subarray(1))
    })
    socket.on('error', error => this.terminate(toUnreachable(error, server)))
    socket.on('close', () => this.#end(undefined))
    socket.on('pong', () => {
      this.#unanswered = 0
      this.#sentAtPong = this.#sent
    })
    this.#pinging = setInterval(() => this.#ping(), ping)
    this.#pinging.unref()
    if (signal?.aborted) queueMicrotask(this.#abort)
    else signal?.addEventListener('abort', this.#abort, { once: true })
  }

  /** The protocol that the server has chosen. */
  get protocol(): string {
    return this.#socket.protocol
  }

  get server(): URL {
    return this.#server
  }

  /** Says who gets the messages, and is called when the connection has ended. */
  attach(user: PodSocketUser): void {
    this.#user = user
  }

  /**
   * Sends bytes on a channel, in order; `done` is called when the system has taken the last of
   * them.
   */
  send(channel: number, content: Buffer, done: (error?: Error | null) => void): void {
    if (this.#socket.readyState !== this.#socket.OPEN) {
      done(toUnreachable({ code: 'EPIPE' }, this.#server))
      return
    }
    this.#sent += content.length
    let at = 0
    for (; at + FRAME < content.length; at += FRAME) this.#sendFrame(channel, content.subarray(at, at + FRAME))
    this.#sendFrame(channel, content.subarray(at), error => done(error && toUnreachable(error, this.#server)))
  }

  #sendFrame(channel: number, content: Buffer, done?: (error?: Error | null) => void): void {
    const room = content.length < SMALL ? Buffer.allocUnsafe(content.length + 1) : (this.#spare.pop() ?? newRoom())
    room[0] = channel
    content.copy(room, 1)
    this.#socket.send(room.subarray(0, content.length + 1), error => {
      if (room.length > FRAME && this.#spare.length < SPARE) this.#spare.push(room)
      done?.(error)
    })
  }

  /** Stops taking messages, so that the sender is held back. */
  pause(): void {
    this.#socket.pause()
  }

  resume(): void {
    if (this.#socket.isPaused) this.#socket.resume()
  }

  /** Ends the connection after what was sent. */
  close(): void {
    this.#socket.close()
  }

  /** Ends the connection at once; the user gets the error. */
  terminate(error?: Error): void {
    this.#end(error)
    this.#socket.terminate()
  }

  #end(error: Error | undefined): void {
    clearInterval(this.#pinging)
    this.#signal?.removeEventListener('abort', this.#abort)
    const user = this.#user
    this.#user = undefined
    user?.end(error)
  }

  #ping(): void {
    // A paused socket does not receive the pongs either.
    if (this.#socket.isPaused) return
    const mayBeHeld = this.#sent > UNREAD && this.#sent > this.#sentAtPong
    if (++this.#unanswered > (mayBeHeld ? MISSED_WHILE_HELD : MISSED))
      this.terminate(toUnreachable({ code: 'ETIMEDOUT' }, this.#server))
    else this.#socket.ping()
  }
}

const newRoom = (): Buffer => Buffer.allocUnsafeSlow(FRAME + 1)
