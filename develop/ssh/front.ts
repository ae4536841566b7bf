import type { Duplex } from 'node:stream'
import type { Connection, ServerChannel } from 'ssh2'
import type { AgentListener } from '../../adapters/ssh/agent-client.ts'
import { join } from '../../adapters/ssh/join.ts'
import { type KeyServer, startKeyServer } from '../../adapters/ssh/key-server.ts'
import type { OpenChannels } from '../../adapters/ssh/open-channels.ts'
import { PortUnavailable } from '../../operations/forward/listen.ts'
import type { AgentLink } from '../ports/agent-link.ts'
import { forwardAgent } from './agent-socket.ts'
import type { FrontContainer } from './container.ts'
import { serveSession } from './session.ts'
import { serveSftp } from './sftp/serve-sftp.ts'

/** Time that a tunnel waits for a container that is not connected, in milliseconds. */
const PATIENCE = 10_000

export interface FrontInput {
  /** Port to listen on; 0 for any free port. */
  readonly port: number
  /** Private key of the server. */
  readonly hostKey: string
  /** Public key of the client. */
  readonly userKey: string
  readonly container: FrontContainer
  readonly link: AgentLink
}

/**
 * Starts an SSH server on 127.0.0.1 of this machine for the development container, which needs no SSH server itself:
 * sessions and SFTP use the exec API, and tunnels use the agent. Rejects with a UserError if the port is unavailable.
 */
export async function startSshFront({ port, hostKey, userKey, container, link }: FrontInput): Promise<KeyServer> {
  const sockets = new WeakMap<Connection, Promise<string | undefined>>()
  const socketOf = async (client: Connection, channels: OpenChannels) => {
    if (container.shared === undefined) return undefined
    const socket = sockets.get(client) ?? forwardAgent(client, channels, link, container.shared)
    sockets.set(client, socket)
    return socket
  }
  const use = (client: Connection, channels: OpenChannels) => {
    client.on('session', accept => {
      const session = accept()
      const keep = (channel: ServerChannel) => channels.keep(channel)
      serveSession(session, container, keep, () => socketOf(client, channels))
      session.on('sftp', start => void serveSftp(start(), container))
    })
    client.on('tcpip', (accept, reject, { destIP, destPort }) => {
      connect(link, destIP, destPort).then(
        target => join(channels.keep(accept()), target),
        () => reject(),
      )
    })
    serveReverse(client, channels, link)
  }
  try {
    return await startKeyServer({ at: { host: '127.0.0.1', port }, hostKey, userKey }, use)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'EADDRINUSE' && code !== 'EACCES') throw error
    const reason = code === 'EACCES' ? 'forbidden' : 'busy'
    const text = code === 'EACCES' ? `no permission to listen on port ${port}` : `port ${port} of 127.0.0.1 is in use`
    throw await new PortUnavailable(reason, port, text).toUserError('set another port in `remote`, or remove it')
  }
}

async function connect(link: AgentLink, host: string, port: number): Promise<Duplex> {
  return (await link.current(PATIENCE)).connect(host, port)
}

/** Forwards ports of the Pod to an SSH client (`ssh -R`), as long as the client and the agent are connected. */
function serveReverse(client: Connection, channels: OpenChannels, link: AgentLink): void {
  const listeners = new Map<string, AgentListener>()
  const requests = new Map<string, AbortController>()
  const gone = new AbortController()
  const listen = async (address: string, port: number) => {
    const request = new AbortController()
    requests.set(`${address}:${port}`, request)
    const over = AbortSignal.any([gone.signal, request.signal])
    const agent = await link.current(PATIENCE)
    over.throwIfAborted()
    const forward = (bound: number) =>
      new Promise<Duplex>((resolve, reject) =>
        client.forwardOut(address, bound, '127.0.0.1', 0, (error, channel) =>
          error ? reject(error) : resolve(channels.keep(channel)),
        ),
      )
    let bound = port
    const listener = await agent.listen(address === 'localhost' ? '127.0.0.1' : address, port, () => forward(bound))
    bound = listener.port
    if (over.aborted) listener.close()
    over.throwIfAborted()
    listeners.set(`${address}:${bound}`, listener)
    return bound
  }
  client.on('request', (accept, reject, name, info) => {
    if (name === 'tcpip-forward')
      listen(info.bindAddr, info.bindPort).then(
        port => accept?.(port),
        () => reject?.(),
      )
    else if (name === 'cancel-tcpip-forward') {
      const place = `${info.bindAddr}:${info.bindPort}`
      requests.get(place)?.abort()
      listeners.get(place)?.close()
      listeners.delete(place)
      accept?.()
    } else reject?.()
  })
  client.once('close', () => {
    gone.abort()
    for (const listener of listeners.values()) listener.close()
  })
}
