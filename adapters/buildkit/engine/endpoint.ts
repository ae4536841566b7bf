import { connect as connectPlain, isIP, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { checkServerIdentity, connect as connectSecure } from 'node:tls'
import { UserError } from '../../../compiler/diagnostics/user-error.ts'
import type { BuilderTls } from '../options.ts'
import { dialOverSsh, parseSshHost, type SshHost } from './ssh.ts'

/** The address that a Docker Engine listens on. */
export interface EngineEndpoint {
  /** The address before parsing, for messages. */
  readonly text: string
  readonly at: { readonly path: string } | { readonly host: string; readonly port: number } | SshHost
  readonly tls?: BuilderTls
}

/** Ports of `dockerd`: `PORT` without TLS, `TLS_PORT` with TLS. */
const PORT = 2375
const TLS_PORT = 2376

const HINT = { hint: 'write `unix:///PATH`, `tcp://HOST:PORT` or `ssh://USER@HOST`' }

/**
 * Parses the address of a Docker Engine, as in DOCKER_HOST: `unix://`, `npipe://`, `tcp://` and `ssh://`. Throws a
 * UserError for any other address.
 */
export function parseEngineAddress(text: string, tls?: BuilderTls): EngineEndpoint {
  const [, scheme = 'tcp', rest = ''] = /^(?:([a-z]+):\/\/)?(.*)$/is.exec(text) ?? []
  switch (scheme.toLowerCase()) {
    case 'unix':
      if (rest.startsWith('/')) return { text, at: { path: rest } }
      break
    case 'npipe':
      return { text, at: { path: rest } }
    case 'ssh': {
      const at = parseSshHost(rest)
      if (at) return { text, at }
      break
    }
    case 'tcp':
    case 'http':
    case 'https': {
      const secure = tls ?? (scheme === 'https' ? {} : undefined)
      const [, written = '', port = secure ? TLS_PORT : PORT] =
        /^(\[[^\]]+\]|[^:/\s]+)(?::(\d{1,5}))?\/?$/.exec(rest) ?? []
      if (written === '' || Number(port) > 65_535) break
      const host = written.replace(/^\[|\]$/g, '')
      return { text, at: { host, port: Number(port) }, ...(secure && { tls: secure }) }
    }
    default:
      throw new UserError(`the Docker Engine at \`${text}\` is not supported: \`${scheme}://\``, HINT)
  }
  throw new UserError(`\`${text}\` is not an address of a Docker Engine`, HINT)
}

/**
 * Returns the address that gRPC connects to; undefined over SSH. The opened connection still has to be passed to
 * `secure`.
 */
export function targetOf({ at }: EngineEndpoint): string | undefined {
  if ('ssh' in at) return undefined
  return 'path' in at ? `unix:${at.path}` : `dns:///${isIP(at.host) === 6 ? `[${at.host}]` : at.host}:${at.port}`
}

/**
 * Opens a connection to a Docker Engine, encrypted if the endpoint uses TLS. Rejects with the error of Node.js or
 * `ssh`.
 */
export async function openConnection(endpoint: EngineEndpoint, signal?: AbortSignal): Promise<Duplex> {
  if ('ssh' in endpoint.at) return dialOverSsh(endpoint.at)
  const socket = connectPlain(endpoint.at)
  await ready(socket, 'connect', signal)
  return secure(endpoint, socket, signal)
}

/** Returns a TLS connection over the socket if the endpoint uses TLS; otherwise returns the socket itself. */
export async function secure({ at, tls }: EngineEndpoint, socket: Socket, signal?: AbortSignal): Promise<Socket> {
  if (!tls || !('host' in at)) return socket
  const { serverName = at.host, ...certificates } = tls
  const encrypted = connectSecure({
    ...certificates,
    socket,
    // The TLS server name cannot be an IP address.
    ...(isIP(serverName) === 0 && { servername: serverName }),
    checkServerIdentity: (_, certificate) => checkServerIdentity(serverName, certificate),
  })
  await ready(encrypted, 'secureConnect', signal)
  return encrypted
}

function ready(socket: Socket, event: string, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (error: unknown) => {
      end()
      socket.on('error', () => {})
      socket.destroy()
      reject(error)
    }
    const done = () => {
      end()
      resolve()
    }
    const aborted = () => fail(signal?.reason)
    const closed = () => fail(new Error('the connection was closed'))
    const end = () => {
      socket.off(event, done).off('error', fail).off('close', closed)
      signal?.removeEventListener('abort', aborted)
    }
    socket.once(event, done).once('error', fail).once('close', closed)
    if (signal?.aborted) aborted()
    else signal?.addEventListener('abort', aborted, { once: true })
  })
}
