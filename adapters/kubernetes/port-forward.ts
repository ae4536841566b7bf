import { Duplex } from 'node:stream'
import { NoAnswer } from '../http/exchange.ts'
import { type CallOptions, ClusterError } from './cluster.ts'
import type { Access } from './connection.ts'
import { openPodSocket, type PodSocket, type PodSocketTarget, SOCKET_LIMITS, type SocketLimits } from './pod-socket.ts'

/** A port of a Pod. */
export interface PodPort {
  readonly pod: string
  readonly namespace: string
  /** Number of the port that the container listens on. */
  readonly port: number
}

/** Time limits of a port forward, in milliseconds. */
export interface ForwardLimits extends SocketLimits {
  /**
   * Longest silence of the other side after this side has ended its stream. The connection is closed after this time.
   */
  readonly linger: number
  /**
   * Timeouts of the first attempts of the handshake. An attempt that was lost in transit is repeated early, because
   * nothing has happened in the Pod yet. Only the last attempt, with the timeout `handshake`, allows for a slow server.
   */
  readonly first: readonly number[]
}

const LIMITS: ForwardLimits = { ...SOCKET_LIMITS, linger: 10_000, first: [2000, 4000] }

const DATA = 0
const ERROR = 1

/**
 * Opens a TCP connection to a port of a Pod, through the API server. A slow reader or writer blocks the other side, as
 * on a socket. The stream is destroyed with an error if the port refuses the connection, or if the connection is lost.
 * Rejects with a ClusterError if the server does not allow the connection. The protocol has no half-closed state: after
 * `end()`, the connection is kept until the Pod closes it, or is silent for `linger`.
 */
export async function openPortForward(
  access: Access,
  { pod, namespace, port }: PodPort,
  options: CallOptions = {},
  limits: Partial<ForwardLimits> = {},
): Promise<Duplex> {
  const all = { ...LIMITS, ...limits }
  const target: PodSocketTarget = {
    pod,
    namespace,
    subresource: 'portforward',
    query: [['ports', String(port)]],
    protocols: ['v4.channel.k8s.io'],
  }
  const open = (handshake: number) =>
    openPodSocket(access, target, socket => new ForwardStream(socket, { pod, port }, all.linger), options, {
      ...all,
      handshake,
    })
  for (const handshake of all.first.filter(one => one < all.handshake))
    try {
      return await open(handshake)
    } catch (error) {
      if (!(error instanceof ClusterError && error.cause instanceof NoAnswer)) throw error
    }
  return open(all.handshake)
}

/**
 * Returns the error for a message on the error channel. Rewrites the node's text, which refers to namespaces and
 * addresses on the node.
 */
function refusal(words: string, { pod, port }: Omit<PodPort, 'namespace'>): ClusterError {
  const isRefused = /connection refused/.test(words)
  const message = isRefused ? `nothing listens on port ${port} in pod/${pod}` : `pod/${pod}: ${words}`
  return new ClusterError(isRefused ? 'not-found' : 'unavailable', message)
}

/** A WebSocket of the `portforward` subresource as a stream of bytes. */
class ForwardStream extends Duplex {
  readonly #socket: PodSocket
  readonly #target: Omit<PodPort, 'namespace'>
  readonly #linger: number
  /** Channels whose first message, which only names the port, has arrived. */
  readonly #named = new Set<number>()
  #silence: NodeJS.Timeout | undefined

  constructor(socket: PodSocket, target: Omit<PodPort, 'namespace'>, linger: number) {
    super({ allowHalfOpen: true })
    // The Pod may refuse before the caller adds a listener, so the error stays in `errored`.
    this.on('error', () => {})
    this.#target = target
    this.#socket = socket
    this.#linger = linger
    socket.attach({
      take: (channel, content) => this.#take(channel, content),
      end: error => {
        if (error) return void this.destroy(error)
        this.push(null)
        // Destroyed only when all is read, because `destroy` discards the bytes that the reader has not taken yet.
        if (!this.writableFinished) this.once('end', () => this.destroy())
      },
    })
  }

  #take(channel: number, content: Buffer): void {
    this.#silence?.refresh()
    if (!this.#named.has(channel)) {
      this.#named.add(channel)
      return
    }
    if (channel === ERROR) this.destroy(refusal(content.toString('utf8').trim(), this.#target))
    else if (channel === DATA && !this.push(content)) this.#socket.pause()
  }

  override _read(): void {
    this.#silence?.refresh()
    this.#socket.resume()
  }

  override _write(chunk: Buffer, _: BufferEncoding, done: (error?: Error | null) => void): void {
    // The bytes for a Pod that has closed the connection are dropped: an error would discard what it has sent before.
    this.#socket.send(DATA, chunk, error => done(this.#socket.isOpen ? error : null))
  }

  override _final(done: () => void): void {
    this.#silence = setTimeout(() => this.#closeSilent(), this.#linger)
    done()
  }

  #closeSilent(): void {
    // The Pod is silent because the local reader is slow.
    if (this.#socket.isPaused) this.#silence?.refresh()
    else this.#socket.close()
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    clearTimeout(this.#silence)
    this.#socket.terminate()
    done(error)
  }
}
