import { connect, createServer, type NetConnectOpts, type Server, type Socket } from 'node:net'

/** Stands between a client and a server, and can cut what goes through. */
export class TcpProxy {
  readonly #server: Server
  readonly #open = new Set<Socket>()
  #sent = 0

  private constructor(server: Server) {
    this.#server = server
  }

  static start(host: string, port: number): Promise<TcpProxy> {
    return TcpProxy.to({ host, port })
  }

  static async to(target: NetConnectOpts): Promise<TcpProxy> {
    const server = createServer()
    const proxy = new TcpProxy(server)
    server.on('connection', client => {
      const upstream = connect(target)
      client.on('data', ({ length }) => {
        proxy.#sent += length
      })
      for (const [one, other] of [
        [client, upstream],
        [upstream, client],
      ] as const) {
        proxy.#open.add(one)
        one.pipe(other)
        one.on('error', () => other.destroy())
        one.on('close', () => {
          proxy.#open.delete(one)
          other.destroy()
        })
      }
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    return proxy
  }

  get port(): number {
    const address = this.#server.address()
    return typeof address === 'object' && address ? address.port : 0
  }

  /** The bytes that clients have sent. */
  get sent(): number {
    return this.#sent
  }

  /** Lets nothing more through, and leaves the connections open. */
  hold(): void {
    for (const socket of this.#open) socket.unpipe().pause()
  }

  /** Cuts every connection, as a network that fails does. */
  cut(): void {
    for (const socket of this.#open) socket.destroy()
  }

  close(): void {
    this.cut()
    this.#server.close()
  }
}
