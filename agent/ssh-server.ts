import { mkdirSync, rmSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import type { Connection } from 'ssh2'
import { join as connectStreams } from '../adapters/ssh/join.ts'
import { type KeyServer, startKeyServer } from '../adapters/ssh/key-server.ts'
import type { OpenChannels } from '../adapters/ssh/open-channels.ts'
import { listenPlace } from './listen-place.ts'

/** Timeout for connecting to an address inside the cluster, in milliseconds. */
const DIAL = 10_000

export interface SshServerConfig {
  readonly sshPort: number
  /** Unix sockets, as in `AgentConfig`. */
  readonly sockets?: { readonly ssh: string }
  /** Folder in which clients may listen on Unix sockets. If absent, clients cannot listen on Unix sockets. */
  readonly shared?: string
  /** Keys of the session: `hostKey` is the private host key, `userKey` is the public key of the user. */
  readonly hostKey: string
  readonly userKey: string
}

interface Owner {
  readonly client: Connection
  readonly channels: OpenChannels
}

interface Bound {
  readonly server: Server
  readonly owner: Connection
}

/**
 * Starts the SSH server of the agent, on 127.0.0.1 of the Pod or a Unix socket. For the laptop that has the session's
 * key, it connects to ports (direct-tcpip) and listens on ports (tcpip-forward) and on sockets in one folder
 * (streamlocal-forward). It runs no programs: it accepts no sessions.
 */
export function startSshServer({ sshPort, sockets, shared, hostKey, userKey }: SshServerConfig): Promise<KeyServer> {
  const bound = new Map<string, Bound>()
  const at = listenPlace(sockets?.ssh, sshPort)
  return startKeyServer({ at, hostKey, userKey }, (client, channels) => {
    let isOpen = true
    client.on('tcpip', (accept, reject, { destIP, destPort }) => {
      dial(destIP, destPort).then(
        socket => (isOpen ? connectStreams(channels.keep(accept()), socket) : socket.destroy()),
        () => reject(),
      )
    })
    client.on('request', (accept, reject, name, info) => {
      if (name === 'tcpip-forward')
        listen(bound, { client, channels }, info.bindAddr, info.bindPort).then(
          port => (isOpen ? accept?.(port) : release(bound, client, `${info.bindAddr}:${port}`)),
          () => reject?.(),
        )
      else if (name === 'cancel-tcpip-forward') {
        release(bound, client, `${info.bindAddr}:${info.bindPort}`)
        accept?.()
      } else if (name === 'streamlocal-forward@openssh.com' && shared !== undefined) {
        const socket = socketOf(info)
        listenSocket(bound, { client, channels }, shared, socket).then(
          () => (isOpen ? accept?.() : release(bound, client, socket)),
          () => reject?.(),
        )
      } else if (name === 'cancel-streamlocal-forward@openssh.com') {
        release(bound, client, socketOf(info))
        accept?.()
      } else reject?.()
    })
    client.once('close', () => {
      isOpen = false
      for (const place of bound.keys()) release(bound, client, place)
    })
  })
}

/**
 * Connects to a host. If the host is the Pod itself (`localhost`), tries all addresses of the Pod, and rejects with the
 * error of the first address.
 */
async function dial(host: string, port: number): Promise<Socket> {
  const isOwn = ['localhost', '127.0.0.1', '::1'].includes(host)
  // Some servers listen on `localhost` only over IPv6, and some only on the address of the Pod.
  const [first, ...others] = isOwn ? ['127.0.0.1', '::1', ...ownAddresses()] : [host]
  try {
    return await dialOnce(first!, port)
  } catch (error) {
    for (const other of others) {
      const socket = await dialOnce(other, port).catch(() => undefined)
      if (socket) return socket
    }
    throw error
  }
}

const ownAddresses = (): readonly string[] =>
  Object.values(networkInterfaces())
    .flatMap(addresses => addresses ?? [])
    .filter(({ internal, address }) => !internal && !address.startsWith('fe80:'))
    .map(({ address }) => address)

function dialOnce(host: string, port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, noDelay: true, allowHalfOpen: true })
    const late = setTimeout(() => socket.destroy(new Error(`no connection to ${host}:${port} in time`)), DIAL)
    socket.once('error', reject)
    socket.once('close', () => clearTimeout(late))
    socket.once('connect', () => {
      clearTimeout(late)
      socket.removeListener('error', reject)
      socket.on('error', () => {})
      resolve(socket)
    })
  })
}

/**
 * Listens on a port for a client and returns the port. Replaces an earlier listener on the same address, because the
 * client of that listener may be gone without having been detected.
 */
async function listen(
  bound: Map<string, Bound>,
  { client, channels }: Owner,
  address: string,
  port: number,
): Promise<number> {
  const before = bound.get(`${address}:${port}`)
  if (before) release(bound, before.owner, `${address}:${port}`)
  const server = createServer({ noDelay: true, allowHalfOpen: true }, socket => {
    socket.on('error', () => {})
    const { remoteAddress = '', remotePort = 0 } = socket
    client.forwardOut(address, bindPort, remoteAddress, remotePort, (error, channel) => {
      if (error) socket.resetAndDestroy()
      else connectStreams(channels.keep(channel), socket)
    })
  })
  await bind(server, address, port)
  const bindPort = (server.address() as AddressInfo).port // it listens on a port
  bound.set(`${address}:${bindPort}`, { server, owner: client })
  return bindPort
}

/**
 * Returns the socket path in a request about a Unix socket. The types of ssh2 include such requests, but not their
 * fields.
 */
const socketOf = (info: object): string => (info as { readonly socketPath: string }).socketPath

/**
 * Listens for a client on a Unix socket with the given name in the shared folder. Only the user who owns the socket may
 * connect.
 */
async function listenSocket(
  bound: Map<string, Bound>,
  { client, channels }: Owner,
  folder: string,
  name: string,
): Promise<void> {
  if (!/^[\w-]+\.sock$/.test(name)) throw new Error('this is no name of a socket')
  const before = bound.get(name)
  if (before) release(bound, before.owner, name)
  mkdirSync(folder, { recursive: true })
  const path = join(folder, name)
  rmSync(path, { force: true })
  const server = createServer({ allowHalfOpen: true }, socket => {
    socket.on('error', () => {})
    client.openssh_forwardOutStreamLocal(name, (error, channel) => {
      if (error) socket.destroy()
      else connectStreams(channels.keep(channel), socket)
    })
  })
  // The socket is created before `listen` returns, and nobody else may connect for a moment either.
  const mask = process.umask(0o177)
  const listening = new Promise<void>((resolve, reject) => void server.on('error', reject).listen(path, resolve))
  process.umask(mask)
  await listening
  bound.set(name, { server, owner: client })
}

function release(bound: Map<string, Bound>, owner: Connection, place: string): void {
  const found = bound.get(place)
  if (found?.owner !== owner) return
  bound.delete(place)
  found.server.close()
}

/** Listens on an address. An empty address means all addresses, over both IPv4 and IPv6 if the Pod has both. */
async function bind(server: Server, address: string, port: number): Promise<void> {
  const listen = (one: string) =>
    new Promise<void>((resolve, reject) => {
      // The error listener stays: an error of one connection must not end the others.
      server.on('error', reject).listen(port, one, resolve)
    })
  if (address !== '') return listen(address)
  try {
    await listen('::')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'EAFNOSUPPORT' && code !== 'EADDRNOTAVAIL') throw error
    server.removeAllListeners('error')
    await listen('0.0.0.0')
  }
}
