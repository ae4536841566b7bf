import { type AddressInfo, createServer, type Socket } from 'node:net'
import ssh2 from 'ssh2'
import { ALGORITHMS } from './algorithms.ts'
import { keyBytes, parsedKey } from './keys.ts'
import { OpenChannels } from './open-channels.ts'

/** Timeout for a client to prove its key, in milliseconds. */
const AUTHENTICATION = 20_000

/**
 * Address on which a server listens: a port, where 0 selects any free port, or a Unix socket, which any user with
 * access to its path may use.
 */
export type ListenPlace = { readonly host: string; readonly port: number } | { readonly path: string }

export interface KeyServerOptions {
  readonly at: ListenPlace
  /** Private key of the server, in OpenSSH format. */
  readonly hostKey: string
  /** Public half of the only accepted client key. */
  readonly userKey: string
}

export interface KeyServer {
  /** Port number; 0 for a socket. */
  readonly port: number
  /** Closes all connections and frees the port. */
  close(): void
}

/**
 * Starts an SSH server that accepts every client with one key, under any user name. `use` adds the listeners that
 * decide what a client may do, and is called before the client has proved its key; without listeners, a client may do
 * nothing. The channels in `channels` fail when the connection is lost. Rejects with Node's error if the server cannot
 * listen on its address.
 */
export async function startKeyServer(
  { at, hostKey, userKey }: KeyServerOptions,
  use: (client: ssh2.Connection, channels: OpenChannels) => void,
): Promise<KeyServer> {
  const sockets = new Set<Socket>()
  // ssh2's own listener leaves Nagle's algorithm on, which costs 40 ms for each key.
  const listener = createServer({ noDelay: true }, socket => {
    sockets.add(socket)
    const channels = new OpenChannels()
    socket.once('close', () => {
      sockets.delete(socket)
      channels.break(new Error('the SSH connection was lost'))
    })
    const server = new ssh2.Server({ hostKeys: [hostKey], algorithms: ALGORITHMS, ident: 'devctl' })
    server.on('connection', client => {
      // The client's channels end if it disconnects.
      client.on('error', () => {})
      const late = setTimeout(() => client.end(), AUTHENTICATION)
      client.once('ready', () => clearTimeout(late)).once('close', () => clearTimeout(late))
      client.on('authentication', context => authenticate(context, userKey))
      use(client, channels)
    })
    server.injectSocket(socket)
  })
  await new Promise<void>((resolve, reject) => {
    // The listener stays registered, so that an error of one connection does not end the others.
    listener.on('error', reject).listen({ ...at, readableAll: true, writableAll: true }, resolve)
  })
  return {
    port: 'path' in at ? 0 : (listener.address() as AddressInfo).port, // it listens on a port
    close() {
      listener.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

function authenticate(context: ssh2.AuthContext, userKey: string): void {
  const isKnown = context.method === 'publickey' && keyBytes(userKey).equals(context.key.data)
  // A request without a signature only asks whether the key would be accepted.
  if (!isKnown || (context.signature && !hasSigned(context, userKey))) context.reject(['publickey'])
  else context.accept()
}

function hasSigned({ blob, signature, hashAlgo }: ssh2.PublicKeyAuthContext, userKey: string): boolean {
  return blob !== undefined && signature !== undefined && parsedKey(userKey).verify(blob, signature, hashAlgo) === true
}
