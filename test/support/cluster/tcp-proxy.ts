import { connect, createServer, type NetConnectOpts, type Server, type Socket } from 'node:net'

/** Stands between a client and a server, and can delay and cut what goes through. */
export class TcpProxy {
  readonly #server: Server
  readonly #open = new Set<Socket>()
  #sent = 0
  /** Milliseconds that everything takes in each direction. */
  delay = 0
  /** True: new connections are accepted, and nothing comes over them. */
  isSilent = false

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
      if (proxy.isSilent) {
        proxy.#open.add(client)
        client.on('error', () => {})
        client.on('close', () => proxy.#open.delete(client))
        return
      }
      const upstream = connect(target)
      client.on('data', ({ length }) => {
        proxy.#sent += length
      })
      for (const [one, other] of [
        [client, upstream],
        [upstream, client],
      ] as const) {
        proxy.#open.add(one)
        proxy.#pass(one, other)
        one.on('error', () => other.destroy())
        one.on('close', () => {
          proxy.#open.delete(one)
          // Deliver what was in flight first.
          if (proxy.delay === 0 || one.errored) other.destroy()
          else setTimeout(() => other.destroy(), proxy.delay + 1)
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

  #pass(one: Socket, other: Socket): void {
    if (this.delay === 0) {
      one.pipe(other)
      return
    }
    // Timers of one length run in their order.
    const later = (run: () => void) => void setTimeout(run, this.delay)
    one.on('data', bytes => later(() => other.write(bytes)))
    one.on('end', () => later(() => other.end()))
  }

  /** Cuts one of the connections; `chance` from 0 to 1 says which. */
  cutOne(chance: number): void {
    const all = [...this.#open]
    all[Math.floor(chance * all.length)]?.destroy()
  }

  /** Lets nothing more through, and leaves the connections open. */
  hold(): void {
    for (const socket of this.#open) socket.unpipe().removeAllListeners('data').pause()
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
