import type { IncomingMessage } from 'node:http'
import type { WebSocket } from 'ws'
import { unlessAborted } from '../http/abort.ts'
import { NoAnswer, readText } from '../http/exchange.ts'
import { pathOf } from './address.ts'
import { type CallOptions, ClusterError } from './cluster.ts'
import { type Access, type Connection, refusedCredentials } from './connection.ts'
import { toClusterError } from './status.ts'
import { toUnreachable } from './unreachable.ts'

/** Time limits of a WebSocket, in milliseconds. */
export interface SocketLimits {
  /** Timeout for the server to accept the connection. */
  readonly handshake: number
  /** Interval between two pings; a connection without a response to two pings in a row is dead. */
  readonly ping: number
}

export const SOCKET_LIMITS: SocketLimits = { handshake: 10_000, ping: 15_000 }

/** A subresource of a Pod that uses channels over a WebSocket. */
export interface PodSocketTarget {
  readonly pod: string
  readonly namespace: string
  readonly subresource: 'exec' | 'attach' | 'portforward'
  readonly query: readonly (readonly [name: string, value: string])[]
  /** Supported protocols, in order of preference. */
  readonly protocols: readonly string[]
}

/** Receives the messages of a PodSocket, each of which belongs to one channel. */
export interface PodSocketUser {
  take(channel: number, content: Buffer): void
  /** Called once when the connection is closed. `error` is undefined if one of the two sides closed the connection. */
  end(error: Error | undefined): void
}

/** Maximum message size in bytes. */
const FRAME = 64 * 1024
/** Size in bytes below which a message does not use a pooled buffer. */
const SMALL = 16 * 1024
/**
 * Maximum number of pooled message buffers: allocating new ones for a large file costs a second of garbage collection
 * per 500 MB.
 */
const SPARE = 80
/**
 * Number of sent bytes that buffers on the way to a process in the Pod can hold. If more was sent and the process does
 * not read, the server stops reading, too, and then responds to no ping. Such a connection gets more time.
 */
const UNREAD = 64 * 1024
const MISSED = 2
/** Code of a connection that ended without a close frame (https://www.rfc-editor.org/rfc/rfc6455#section-7.1.5). */
const LOST = 1006
const MISSED_WHILE_HELD = 20

/**
 * Opens a WebSocket to a Pod with the cluster's connection settings and credentials. Calls `use` when the WebSocket is
 * open, before the first message. Rejects with a ClusterError if the server does not accept it, or with the signal's
 * abort reason; the signal also ends the open connection.
 */
export async function openPodSocket<T>(
  access: Access,
  target: PodSocketTarget,
  use: (socket: PodSocket) => T,
  { signal }: CallOptions,
  limits: SocketLimits,
): Promise<T> {
  const { WebSocket } = await import('ws')
  const attempt = (connection: Connection) =>
    open(target, use, { WebSocket, server: access.server, connection, signal, limits })
  const connection = await unlessAborted(access.connect(), signal)
  try {
    return await attempt(connection)
  } catch (error) {
    // Retries once with fresh credentials, because the token may have expired.
    if (!isRejected(error)) throw error
    const renewed = await unlessAborted(access.connect(connection), signal)
    return attempt(renewed).catch(again => {
      throw isRejected(again) ? refusedCredentials(access, again) : again
    })
  }
}

/** Returns true if the server has rejected the credentials. Without a status, no credentials were obtained. */
const isRejected = (error: unknown): boolean =>
  error instanceof ClusterError && error.failure === 'unauthorized' && error.status === 401

/** Connection to the API server and time limits for WebSockets. */
interface SocketAccess {
  /** Class of the WebSocket library, which is loaded when it is needed. */
  readonly WebSocket: typeof WebSocket
  readonly server: URL
  readonly connection: Connection
  readonly signal: AbortSignal | undefined
  readonly limits: SocketLimits
}

function open<T>(
  { pod, namespace, subresource, query, protocols }: PodSocketTarget,
  use: (socket: PodSocket) => T,
  { WebSocket, server, connection: { streams, headers }, signal, limits }: SocketAccess,
): Promise<T> {
  const path = `${pathOf('v1', { name: 'pods', namespaced: true }, namespace, pod)}/${subresource}`
  const words = query.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&')
  const address = `${server.href.replace(/\/$/, '').replace(/^http/, 'ws')}${path}?${words}`
  const socket = new WebSocket(address, [...protocols], {
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
 * Sets an empty mask. Masks protect against proxies that mistake content for requests, but a proxy sees nothing of a
 * TLS connection. Masking takes longer than all other processing of the bytes.
 */
const noMask = (mask: Buffer): void => void mask.fill(0)

/**
 * Returns the error for a response other than 101. A success status comes from a proxy that removed the upgrade header.
 */
function refusedUpgrade(status: number, body: string, path: string, server: URL): ClusterError {
  if (status >= 400) return toClusterError(status, body, `GET ${path}`)
  const text = `\`${server.origin}\` answered ${status} and opened no WebSocket: a proxy before it may not support them`
  return new ClusterError('unreachable', text, { status })
}

/**
 * An open WebSocket of a Pod's subresource: the first byte of each message is the channel. Sends pings, and closes the
 * connection if they are not answered.
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

  /** @internal */
  constructor(socket: WebSocket, server: URL, ping: number, signal: AbortSignal | undefined) {
    this.#socket = socket
    this.#server = server
    this.#signal = signal
    socket.on('message', (data: Buffer) => {
      if (data.length > 0) this.#user?.take(data[0]!, data.subarray(1))
    })
    socket.on('error', error => this.terminate(toUnreachable(error, server)))
    // A side that closes the connection says so. The end of the TCP connection alone cuts off what was on its way.
    socket.on('close', code => this.#end(code === LOST ? toUnreachable({ code: 'ECONNRESET' }, server) : undefined))
    socket.on('pong', () => {
      this.#unanswered = 0
      this.#sentAtPong = this.#sent
    })
    this.#pinging = setInterval(() => this.#ping(), ping)
    this.#pinging.unref()
    if (signal?.aborted) queueMicrotask(this.#abort)
    else signal?.addEventListener('abort', this.#abort, { once: true })
  }

  /** Protocol that the server selected. */
  get protocol(): string {
    return this.#socket.protocol
  }

  get server(): URL {
    return this.#server
  }

  /** True until one of the two sides closes the connection. */
  get isOpen(): boolean {
    return this.#socket.readyState === this.#socket.OPEN
  }

  /** True if an open connection receives no messages because of `pause`. */
  get isPaused(): boolean {
    return this.isOpen && this.#socket.isPaused
  }

  /** Sets the object that receives the messages and is notified of the end of the connection. */
  attach(user: PodSocketUser): void {
    this.#user = user
  }

  /** Sends bytes on a channel, in order; `done` is called when the operating system has accepted all of them. */
  send(channel: number, content: Buffer, done: (error?: Error | null) => void): void {
    if (!this.isOpen) {
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

  /** Stops receiving messages, which blocks the sender. */
  pause(): void {
    this.#socket.pause()
  }

  resume(): void {
    if (this.#socket.isPaused) this.#socket.resume()
  }

  /** Closes the connection after all sent messages. */
  close(): void {
    this.#socket.close()
  }

  /** Closes the connection immediately, and passes the error to the receiver of the messages. */
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
