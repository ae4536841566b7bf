import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect, createServer as createTcpServer, type Server as TcpServer } from 'node:net'

export interface Listening {
  readonly url: string
  /** Addresses that it was asked to connect to. */
  readonly asked: readonly string[]
  close(): void
}

/** A proxy that leads every CONNECT to one address, whatever host it names. */
export async function startProxy(target: URL): Promise<Listening> {
  const asked: string[] = []
  const server = createServer()
  server.on('connect', (request, client) => {
    asked.push(request.url ?? '')
    const upstream = connect(Number(target.port), target.hostname, () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n')
      upstream.pipe(client).pipe(upstream)
    })
    upstream.on('error', () => client.destroy())
    client.on('error', () => upstream.destroy())
  })
  return { ...(await listen(server)), asked }
}

/** A port that takes connections and never says a word. */
export async function startSilence(): Promise<Listening> {
  return { ...(await listen(createTcpServer())), asked: [] }
}

async function listen(server: Server | TcpServer): Promise<{ url: string; close: () => void }> {
  const sockets = new Set<{ destroy: () => unknown }>()
  server.on('connection', (socket: { destroy: () => unknown }) => sockets.add(socket))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo // it listens on a port
  const close = () => {
    for (const socket of sockets) socket.destroy()
    server.close()
  }
  return { url: `http://127.0.0.1:${port}`, close }
}
