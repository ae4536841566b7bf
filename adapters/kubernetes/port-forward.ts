import type { IncomingMessage } from 'node:http'
import { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import { readText } from '../http/exchange.ts'
import { pathOf } from './address.ts'
import { type CallOptions, ClusterError } from './cluster.ts'
import type { Access } from './connection.ts'
import { toClusterError } from './status.ts'
import { toUnreachable } from './unreachable.ts'

/** A port of a Pod. */
export interface PodPort {
  readonly pod: string
  readonly namespace: string
  /** The number that the container listens on. */
  readonly port: number
}

/** All in milliseconds. */
export interface ForwardLimits {
  /** Until the server has accepted the connection. */
  readonly handshake: number
  /** Between two pings; a connection that misses two answers in a row is dead. */
  readonly ping: number
  /**
   * After our side has ended: how long the other one may be silent before the connection is closed.
   */
  readonly linger: number
}

const LIMITS: ForwardLimits = { handshake: 10_000, ping: 15_000, linger: 10_000 }

/**
 * The protocol of the `portforward` subresource over WebSockets: a first byte of each message names
 * its channel.
 */
const PROTOCOL = 'v4.channel.k8s.io'
const DATA = 0
const ERROR = 1
const FRAME = 64 * 1024

/**
 * One TCP connection to a port of a Pod, through the API server. Reading and writing hold each
 * other back as on a socket. The stream is destroyed with an error when the port refuses, or the
 * way there breaks. Rejects with a ClusterError when the server does not let it be made. The
 * protocol has no half-closed state: after `end()` the connection is kept until the Pod closes it,
 * or is silent for `linger`.
 */
export async function openPortForward(
  access: Access,
  target: PodPort,
  { signal }: CallOptions = {},
  limits: Partial<ForwardLimits> = {},
): Promise<Duplex> {
  try {
    return await open(access, target, false, { ...LIMITS, ...limits }, signal)
  } catch (error) {
    // A token that has run out is fetched again, once.
    if ((error as ClusterError).failure !== 'unauthorized') throw error
    return open(access, target, true, { ...LIMITS, ...limits }, signal)
  }
}

async function open(
  access: Access,
  { pod, namespace, port }: PodPort,
  isFresh: boolean,
  limits: ForwardLimits,
  signal: AbortSignal | undefined,
): Promise<Duplex> {
  const [{ WebSocket }, { streams, headers }] = await Promise.all([import('ws'), access.connect(isFresh)])
  signal?.throwIfAborted()
  const path = `${pathOf('v1', { name: 'pods', namespaced: true }, namespace, pod)}/portforward?ports=${port}`
  const socket = new WebSocket(`${access.server.href.replace(/\/$/, '').replace(/^http/, 'ws')}${path}`, PROTOCOL, {
    agent: streams,
    headers: { ...headers, 'user-agent': 'devctl' },
    handshakeTimeout: limits.handshake,
    perMessageDeflate: false,
  })
  return new Promise((resolve, reject) => {
    const abort = () => socket.terminate()
    signal?.addEventListener('abort', abort, { once: true })
    const fail = (error: unknown) => {
      signal?.removeEventListener('abort', abort)
      reject(signal?.aborted ? signal.reason : error)
    }
    socket.once('unexpected-response', async (_, response: IncomingMessage) => {
      const body = await readText(response, limits.handshake).catch(() => '')
      fail(toClusterError(response.statusCode ?? 0, body, `GET ${path}`))
      socket.terminate()
    })
    socket.once('error', error => fail(toUnreachable(error, access.server)))
    socket.once('open', () => {
      socket.removeAllListeners('error')
      const stream = new ForwardStream(socket, { pod, port, server: access.server }, limits)
      stream.once('close', () => signal?.removeEventListener('abort', abort))
      signal?.addEventListener('abort', () => stream.destroy(signal.reason), { once: true })
      resolve(stream)
    })
  })
}

interface StreamTarget {
  readonly pod: string
  readonly port: number
  readonly server: URL
}

/**
 * The error for a message on the error channel: the node's text is about its own namespaces and
 * addresses.
 */
function refusal(words: string, { pod, port }: StreamTarget): ClusterError {
  const isRefused = /connection refused/.test(words)
  const message = isRefused ? `nothing listens on port ${port} in pod/${pod}` : `pod/${pod}: ${words}`
  return new ClusterError(isRefused ? 'not-found' : 'unavailable', message)
}

/** A WebSocket of the `portforward` subresource as a stream of bytes. */
class ForwardStream extends Duplex {
  readonly #socket: WebSocket
  readonly #target: StreamTarget
  readonly #linger: number
  readonly #pinging: NodeJS.Timeout
  /** Channels whose first message, which only names the port, has come. */
  readonly #named = new Set<number>()
  #silence: NodeJS.Timeout | undefined
  #unanswered = 0

  constructor(socket: WebSocket, target: StreamTarget, { ping, linger }: ForwardLimits) {
    super({ allowHalfOpen: true })
    // The Pod may refuse before anybody listens: the error stays in `errored`.
    this.on('error', () => {})
    const { server } = target
    this.#target = target
    this.#socket = socket
    this.#linger = linger
    socket.on('message', (data: Buffer) => this.#take(data))
    socket.on('error', error => this.destroy(toUnreachable(error, server)))
    socket.on('close', () => {
      this.push(null)
      if (!this.writableFinished) this.destroy()
    })
    socket.on('pong', () => {
      this.#unanswered = 0
    })
    this.#pinging = setInterval(() => {
      // A paused socket does not receive the pongs either.
      if (socket.isPaused) return
      if (++this.#unanswered > 2) this.destroy(toUnreachable({ code: 'ETIMEDOUT' }, server))
      else socket.ping()
    }, ping)
    this.#pinging.unref()
  }

  #take(data: Buffer): void {
    const channel = data[0]!
    this.#silence?.refresh()
    if (!this.#named.has(channel)) {
      this.#named.add(channel)
      return
    }
    const content = data.subarray(1)
    if (channel === ERROR) this.destroy(refusal(content.toString('utf8').trim(), this.#target))
    else if (channel === DATA && !this.push(content)) this.#socket.pause()
  }

  override _read(): void {
    if (this.#socket.isPaused) this.#socket.resume()
  }

  override _write(chunk: Buffer, _: BufferEncoding, done: (error?: Error | null) => void): void {
    const frames: Buffer[] = []
    for (let at = 0; at < chunk.length; at += FRAME)
      frames.push(Buffer.concat([Buffer.from([DATA]), chunk.subarray(at, at + FRAME)]))
    const last = frames.pop()
    for (const frame of frames) this.#socket.send(frame)
    if (last) this.#socket.send(last, done)
    else done()
  }

  override _final(done: () => void): void {
    this.#silence = setTimeout(() => this.#socket.close(), this.#linger)
    done()
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    clearInterval(this.#pinging)
    clearTimeout(this.#silence)
    this.#socket.terminate()
    done(error)
  }
}
