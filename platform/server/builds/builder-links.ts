import { type ClientHttp2Session, connect } from 'node:http2'
import { connect as connectTcp } from 'node:net'
import { parseBuilderAddress } from '../../../adapters/buildkit/address.ts'
import type { BuilderTls } from '../../../adapters/buildkit/options.ts'
import { CallError, UNAVAILABLE } from '../../../adapters/buildkit/session/call-error.ts'

/** Timeout for connecting to a builder, in milliseconds. */
const CONNECT = 10_000
/** TCP keep-alive interval in milliseconds. */
const ALIVE = 15_000
/** HTTP/2 flow control windows for data from a builder, in bytes: per call, and for the whole connection. */
const WINDOW = { call: 1 << 20, all: 4 << 20 }

/**
 * The connections to builders on behalf of one client. They are closed together with the client's own connection, which
 * ends the client's builds.
 */
export class BuilderLinks {
  readonly #tls: BuilderTls | undefined
  readonly #links = new Map<string, Promise<ClientHttp2Session>>()
  #isClosed = false

  constructor(tls: BuilderTls | undefined) {
    this.#tls = tls
  }

  /** Returns the connection to a builder, which is opened when it is first needed. Throws a CallError. */
  to(builder: string): Promise<ClientHttp2Session> {
    const known = this.#links.get(builder)
    if (known) return known
    const link = this.#open(builder)
    this.#links.set(builder, link)
    const forget = () => this.#links.get(builder) === link && this.#links.delete(builder)
    link.then(session => session.once('close', forget), forget)
    return link
  }

  close(): void {
    this.#isClosed = true
    for (const link of this.#links.values())
      link.then(
        session => session.destroy(),
        () => {},
      )
  }

  #open(builder: string): Promise<ClientHttp2Session> {
    const { target, host = '', isSecure } = parseBuilderAddress(builder)
    const path = target.startsWith('unix:') ? target.slice('unix:'.length) : undefined
    const authority = path === undefined ? target.replace('dns:///', '') : 'localhost'
    const options = { settings: { initialWindowSize: WINDOW.call } }
    const session =
      isSecure || this.#tls
        ? connect(`https://${authority}`, { ...options, ...this.#tls, servername: this.#tls?.serverName ?? host })
        : connect(`http://${authority}`, {
            ...options,
            ...(path !== undefined && { createConnection: () => connectTcp(path) }),
          })
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => session.destroy(new Error('no answer')), CONNECT)
      const refuse = () => {
        clearTimeout(late)
        reject(new CallError(UNAVAILABLE, 'the builder cannot be reached'))
      }
      session.on('error', refuse)
      session.once('close', refuse)
      session.once('connect', (_, socket) => {
        clearTimeout(late)
        if (this.#isClosed) return void session.destroy()
        if ('setKeepAlive' in socket) socket.setKeepAlive(true, ALIVE)
        session.setLocalWindowSize(WINDOW.all)
        resolve(session)
      })
    })
  }
}
