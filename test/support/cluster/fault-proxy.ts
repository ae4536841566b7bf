import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { Agent, request } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { connect, createServer as createTcpServer, type Server as TcpServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect as secureConnect } from 'node:tls'
import { parse } from 'yaml'
import { IDLE_MS } from './cluster.ts'
import { writeKubeconfig } from './kubeconfig-file.ts'

/** Fault to inject into a request. */
export type Fault =
  /**
   * Cuts the connection before the server gets the request, after it has handled it, or in the middle of its answer.
   */
  | 'cut-before'
  | 'cut-after'
  | 'cut-inside'
  /** Nothing ever comes; or a part of the answer, and then nothing. */
  | 'stall'
  | 'stall-inside'
  /** The API server is overloaded, broken, or behind a gateway that is. */
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: string }
  /** Reports to a watch that its resourceVersion is too old. */
  | 'gone'

interface Rule {
  readonly applies: (request: Asked) => boolean
  readonly fault: Fault
  left: number
}

export interface Asked {
  readonly method: string
  readonly path: string
}

/**
 * Stands between a client and the API server of KUBECONFIG: plain http on our side, the user's credentials on the
 * other, and between them whatever a test asks for.
 */
export class FaultProxy {
  /** All requests that came, in order. */
  readonly asked: Asked[] = []
  /** Requests whose answer has begun, in that order, with the times. */
  readonly exchanges: (Asked & { readonly began: number; readonly ended: number })[] = []
  /** Milliseconds that each request takes longer. */
  delay = 0
  readonly #upstream = upstreamOf(process.env.KUBECONFIG!)
  readonly #sockets = new Set<Socket>()
  readonly #rules: Rule[] = []
  #choose: ((asked: Asked) => Fault | undefined) | undefined
  #server: Server
  #port = 0

  constructor() {
    this.#server = this.#listener()
  }

  /** Listens; gives the path of a kubeconfig that leads here. */
  async open(): Promise<string> {
    await this.accept()
    return writeKubeconfig(({ clusters, users }) => {
      clusters[0]!.cluster = { server: `http://127.0.0.1:${this.#port}` }
      users[0]!.user = {}
    })
  }

  async close(): Promise<void> {
    await this.refuse()
    this.#upstream.agent.destroy()
  }

  /** Lets something happen to the next requests that a test is about; by default to one. */
  inject(fault: Fault, applies: Rule['applies'] = () => true, times = 1): void {
    this.#rules.push({ fault, applies, left: times })
  }

  /** Asks for each request what shall happen to it. */
  injectEach(choose: (asked: Asked) => Fault | undefined): void {
    this.#choose = choose
  }

  /** Stops injecting faults. Requests that already stall continue to stall. */
  heal(): void {
    this.#rules.splice(0)
    this.#choose = undefined
  }

  /** Cuts all connections there are. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  /** Cuts all connections, and takes no new ones: the server is down. */
  async refuse(): Promise<void> {
    const closed = new Promise<void>(resolve => this.#server.close(() => resolve()))
    this.cut()
    await closed
  }

  /** Listens again, where it did before. */
  async accept(): Promise<void> {
    this.#server = this.#listener()
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject)
      this.#server.listen(this.#port, '127.0.0.1', resolve)
    })
    this.#port = (this.#server.address() as AddressInfo).port // it listens at a port
  }

  get openConnections(): number {
    return this.#sockets.size
  }

  #listener(): Server {
    const server = createServer(
      (incoming, response) => void this.#serve(incoming, response).catch(() => incoming.socket.destroy()),
    )
    server.on('connection', socket => {
      this.#sockets.add(socket)
      socket.on('close', () => this.#sockets.delete(socket))
    })
    server.on('upgrade', (incoming, socket, head) => this.#tunnel(incoming, socket as Socket, head))
    return server
  }

  /** The streams of a Pod go through as they are; only `stall` happens to them. */
  #tunnel({ method = '', url: path = '', rawHeaders }: IncomingMessage, socket: Socket, head: Buffer): void {
    const asked = { method, path }
    this.asked.push(asked)
    const rule = this.#rules.find(one => one.left > 0 && one.applies(asked))
    if (rule) rule.left--
    if ((rule ? rule.fault : this.#choose?.(asked)) === 'stall') return
    const { server, agent } = this.#upstream
    const upstream = secureConnect({ ...agent.options, host: server.hostname, port: Number(server.port) })
    const lines = [`${method} ${path} HTTP/1.1`]
    for (let at = 0; at < rawHeaders.length; at += 2) {
      const [name = '', value] = rawHeaders.slice(at, at + 2)
      lines.push(`${name}: ${name.toLowerCase() === 'host' ? server.host : value}`)
    }
    upstream.write(`${lines.join('\r\n')}\r\n\r\n`)
    upstream.write(head)
    socket.pipe(upstream).pipe(socket)
    for (const [one, other] of [
      [socket, upstream],
      [upstream, socket],
    ] as const) {
      one.on('error', () => other.destroy())
      one.on('close', () => other.destroy())
    }
  }

  async #serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const asked = { method: incoming.method ?? '', path: incoming.url ?? '' }
    const began = performance.now()
    this.asked.push(asked)
    const rule = this.#rules.find(one => one.left > 0 && one.applies(asked))
    if (rule) rule.left--
    const fault = rule ? rule.fault : this.#choose?.(asked)
    const parts: Buffer[] = []
    for await (const part of incoming) parts.push(part)
    if (this.delay > 0) await sleep(this.delay)
    // The message has ended with its last byte, and destroying it does nothing any more: what is cut is its connection.
    if (fault === 'stall') return
    if (fault === 'cut-before') return void incoming.socket.destroy()
    if (fault === 'gone') {
      const status = {
        kind: 'Status',
        apiVersion: 'v1',
        status: 'Failure',
        reason: 'Expired',
        code: 410,
        message: 'too old',
      }
      return void response.end(`${JSON.stringify({ type: 'ERROR', object: status })}\n`)
    }
    if (typeof fault === 'object') return void response.writeHead(fault.status, fault.headers).end(fault.body ?? '')
    const answered = () => void this.exchanges.push({ ...asked, began, ended: performance.now() })
    await this.#forward(incoming, Buffer.concat(parts), response, fault, answered)
  }

  #forward(
    incoming: IncomingMessage,
    body: Buffer,
    response: ServerResponse,
    fault: Fault | undefined,
    answered: () => void,
  ): Promise<void> {
    const { agent, server } = this.#upstream
    const headers = { ...incoming.headers, host: server.host }
    const options = { method: incoming.method, agent, headers }
    return new Promise((resolve, reject) => {
      const sent = request(new URL(incoming.url ?? '/', server), options, answer => {
        if (fault === undefined) {
          response.writeHead(answer.statusCode ?? 500, answer.headers)
          response.flushHeaders()
          answered()
          answer.pipe(response).on('close', resolve)
          answer.on('error', () => incoming.socket.destroy())
          return
        }
        const parts: Buffer[] = []
        answer.on('data', part => parts.push(part))
        answer.on('end', () => {
          const whole = Buffer.concat(parts)
          if (fault === 'cut-after') return resolve(void incoming.socket.destroy())
          const { 'transfer-encoding': _, ...rest } = answer.headers
          response.writeHead(answer.statusCode ?? 500, { ...rest, 'content-length': whole.length })
          response.write(whole.subarray(0, whole.length / 2), () => {
            if (fault === 'cut-inside') incoming.socket.destroy()
            resolve()
          })
        })
      })
      sent.on('error', reject)
      response.on('close', () => sent.destroy())
      sent.end(body)
    })
  }
}

/**
 * A proxy that knows nothing but bytes: for what goes wrong with TLS and before. Its kubeconfig leads to the API server
 * through it.
 */
export class TcpProxy {
  readonly #target = upstreamOf(process.env.KUBECONFIG!).server
  readonly #sockets = new Set<Socket>()
  #server: TcpServer | undefined
  /** Treatment of connections: they go through, hang before the first byte, or are cut at once. */
  mode: 'open' | 'stall' | 'cut' = 'open'

  async open(): Promise<string> {
    const server = createTcpServer(socket => {
      this.#keep(socket)
      if (this.mode === 'cut') return void socket.destroy()
      if (this.mode === 'stall') return
      const upstream = connect(Number(this.#target.port), this.#target.hostname)
      this.#keep(upstream)
      socket.pipe(upstream).pipe(socket)
    })
    this.#server = server
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo // it listens at a port
    return writeKubeconfig(({ clusters }) => {
      clusters[0]!.cluster['server'] = `https://127.0.0.1:${port}`
    })
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    await new Promise<void>(resolve => (this.#server ? this.#server.close(() => resolve()) : resolve()))
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket)
    socket.on('error', () => socket.destroy())
    socket.on('close', () => this.#sockets.delete(socket))
  }
}

/** The API server of a kubeconfig with client certificates, which is what the test cluster has. */
function upstreamOf(kubeconfig: string): { readonly server: URL; readonly agent: Agent } {
  const { clusters, users } = parse(readFileSync(kubeconfig, 'utf8'))
  const [{ cluster }, { user }] = [clusters[0], users[0]]
  const pem = (text: string) => Buffer.from(text, 'base64')
  const agent = new Agent({
    keepAlive: true,
    timeout: IDLE_MS,
    ca: pem(cluster['certificate-authority-data']),
    cert: pem(user['client-certificate-data']),
    key: pem(user['client-key-data']),
  })
  return { server: new URL(cluster.server), agent }
}
