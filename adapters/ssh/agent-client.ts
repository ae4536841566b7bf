import type { Duplex } from 'node:stream'
import ssh2 from 'ssh2'
import { ALGORITHMS } from './algorithms.ts'
import { join } from './join.ts'
import { keyBytes } from './keys.ts'
import { OpenChannels } from './open-channels.ts'

/** Timeout for the agent to accept the login, and interval between two keepalive requests, both in milliseconds. */
const READY = 15_000
const KEEPALIVE = 10_000
const MISSED = 3
/** Error code SSH_OPEN_CONNECT_FAILED (RFC 4254, 5.1). */
const CONNECT_FAILED = 2

/** The reason why a request to the agent failed. */
export type AgentFailure =
  /** The connection to the agent was lost, or could not be established. */
  | 'lost'
  /** Nothing listens at the address, or the name does not resolve. */
  | 'refused'
  /** The port of the Pod is in use. */
  | 'busy'

export class AgentError extends Error {
  readonly failure: AgentFailure

  constructor(failure: AgentFailure, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.failure = failure
  }
}

/** A port of the Pod, or a socket, on which the agent listens for devctl. */
export interface AgentListener {
  /** Port number; 0 for a socket. */
  readonly port: number
  close(): void
}

/** The agent of a Pod, over SSH. All of its streams fail when the connection is lost. */
export interface PodAgent {
  /**
   * Connects to an address as seen from the Pod; `localhost` also means the Pod's own IP address. Rejects with an
   * AgentError.
   */
  connect(host: string, port: number): Promise<Duplex>
  /**
   * Listens on a port of the Pod. Calls `take` for each connection and forwards the connection to the returned stream,
   * or refuses the connection if `take` returns undefined. Rejects with an AgentError.
   */
  listen(host: string, port: number, take: () => Promise<Duplex | undefined>): Promise<AgentListener>
  /**
   * Makes the agent listen on a Unix socket with this name, in a folder shared with the development container. Calls
   * `take` for each connection. Rejects with an AgentError.
   */
  listenSocket(name: string, take: () => Promise<Duplex | undefined>): Promise<AgentListener>
  /** Resolves when the connection has ended, with the reason. */
  readonly ended: Promise<Error>
  close(): void
}

export interface AgentKeys {
  /** Public host key by which devctl recognizes the agent. */
  readonly hostKey: string
  /** Private key of this client. */
  readonly userKey: string
}

/** Connects to the agent's SSH server over a stream. Rejects with an AgentError. */
export async function connectAgent(stream: Duplex, keys: AgentKeys): Promise<PodAgent> {
  const client = new ssh2.Client()
  const connection = new SshAgent(client, stream)
  await new Promise<void>((resolve, reject) => {
    client.once('ready', resolve)
    void connection.ended.then(reject)
    client.connect({
      sock: stream,
      username: 'devctl',
      privateKey: keys.userKey,
      hostVerifier: (key: Buffer) => keyBytes(keys.hostKey).equals(key),
      algorithms: ALGORITHMS,
      // ssh2 listens on sockets with strictVendor only if the server is OpenSSH.
      strictVendor: false,
      readyTimeout: READY,
      keepaliveInterval: KEEPALIVE,
      keepaliveCountMax: MISSED,
    })
  })
  return connection
}

class SshAgent implements PodAgent {
  readonly ended: Promise<Error>
  readonly #client: ssh2.Client
  readonly #channels = new OpenChannels()
  readonly #listeners = new Map<string, () => Promise<Duplex | undefined>>()
  #end!: (error: AgentError) => void

  constructor(client: ssh2.Client, stream: Duplex) {
    this.#client = client
    this.ended = new Promise(resolve => {
      this.#end = resolve
    })
    const end = (error?: Error) => this.#lose(error)
    // Registered before ssh2's own listeners, which would end its channels as if they were complete.
    stream.once('error', end).once('close', () => end())
    client.on('error', end).on('close', () => end())
    client.on('tcp connection', ({ destIP, destPort }, accept, reject) => {
      void this.#take(`${destIP}:${destPort}`, accept, reject)
    })
    client.on('unix connection', ({ socketPath }, accept, reject) => void this.#take(socketPath, accept, reject))
  }

  connect(host: string, port: number): Promise<Duplex> {
    return new Promise((resolve, reject) => {
      const lost = () => reject(new AgentError('lost', 'the connection to the agent was lost'))
      try {
        this.#client.forwardOut('127.0.0.1', 0, host, port, (error, channel) => {
          if (!error) return resolve(this.#channels.keep(channel))
          // The error's type lacks the field that ssh2 sets.
          const { reason } = error as Error & { reason?: unknown }
          if (reason === CONNECT_FAILED)
            reject(
              new AgentError(
                'refused',
                `nothing listens on ${host}:${port}${isOfPod(host) ? ' in the Pod' : ''}`,
                error,
              ),
            )
          else lost()
        })
      } catch {
        lost()
      }
    })
  }

  listen(host: string, port: number, take: () => Promise<Duplex | undefined>): Promise<AgentListener> {
    return new Promise((resolve, reject) => {
      const lost = () => reject(new AgentError('lost', 'the connection to the agent was lost'))
      void this.ended.then(lost)
      try {
        this.#client.forwardIn(host, port, (error, bound) => {
          if (error) return reject(new AgentError('busy', `port ${port} of the Pod is in use`, error))
          const actual = bound || port
          this.#listeners.set(`${host}:${actual}`, take)
          resolve({ port: actual, close: () => this.#stop(host, actual) })
        })
      } catch {
        lost()
      }
    })
  }

  listenSocket(name: string, take: () => Promise<Duplex | undefined>): Promise<AgentListener> {
    return new Promise((resolve, reject) => {
      const lost = () => reject(new AgentError('lost', 'the connection to the agent was lost'))
      void this.ended.then(lost)
      try {
        // The callback's type lacks the error.
        this.#client.openssh_forwardInStreamLocal(name, ((error?: Error) => {
          if (error) return reject(new AgentError('busy', `the agent cannot listen on ${name}`, error))
          this.#listeners.set(name, take)
          resolve({ port: 0, close: () => this.#stopSocket(name) })
        }) as () => void)
      } catch {
        lost()
      }
    })
  }

  close(): void {
    this.#client.end()
    this.#lose()
  }

  async #take(place: string, accept: () => ssh2.Channel, reject: () => void): Promise<void> {
    const target = await this.#listeners
      .get(place)?.()
      .catch(() => undefined)
    if (!target) return reject()
    join(this.#channels.keep(accept()), target)
  }

  #stop(host: string, port: number): void {
    this.#listeners.delete(`${host}:${port}`)
    try {
      this.#client.unforwardIn(host, port, () => {})
    } catch {
      // The connection was lost, and with it the listener.
    }
  }

  #stopSocket(name: string): void {
    this.#listeners.delete(name)
    try {
      this.#client.openssh_unforwardInStreamLocal(name, () => {})
    } catch {
      // The connection was lost, and with it the listener.
    }
  }

  #lose(cause?: Error): void {
    const text = cause
      ? `the connection to the agent was lost: ${cause.message}`
      : 'the connection to the agent was lost'
    const error = new AgentError('lost', text, cause)
    this.#end(error)
    this.#channels.break(error)
    this.#client.destroy()
  }
}

/** Returns true if a host is the Pod itself. Any other host is the name of a Service, outside the Pod. */
const isOfPod = (host: string): boolean => ['localhost', '127.0.0.1', '::1'].includes(host)
