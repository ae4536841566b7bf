import { type IncomingMessage, type OutgoingHttpHeaders, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { parseApiPath } from './api-path.ts'
import { ApplyNudge } from './apply-nudge.ts'
import type { Labelling } from './labelling.ts'
import { Refusal } from './status.ts'
import { readBody, type Upstream, type UpstreamCall } from './upstream.ts'

/** Maximum size of a body in bytes, above the limit of the API server (3 MiB). */
const LARGEST = 8 << 20
/**
 * Subresources whose connections are treated as long-lived: the connection stays open, or (`proxy`) the response comes
 * from an application behind the API server.
 */
const CONVERSATIONS = new Set(['log', 'exec', 'attach', 'portforward', 'proxy'])
/** Headers that are not forwarded: they belong to one connection, or contain credentials of the proxy's client. */
const OWN_HEADERS = new Set([
  'authorization',
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** Forwards requests to the real API server and returns its responses. */
export class Forwarder {
  readonly #upstream: Upstream
  readonly #labelling: Labelling
  readonly #nudge: ApplyNudge
  readonly #running = new Set<AbortController>()
  readonly #sockets = new Set<Duplex>()

  constructor(upstream: Upstream, labelling: Labelling) {
    this.#upstream = upstream
    this.#labelling = labelling
    this.#nudge = new ApplyNudge()
  }

  /** Answers a request. Never rejects. */
  async forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const running = new AbortController()
    this.#running.add(running)
    response.once('close', () => running.abort())
    try {
      const { response: answer } = await this.#upstream.send(await this.#call(request, running.signal))
      const headers = endToEnd(answer)
      if (this.#nudge.isFor(request) && answer.statusCode === 200) {
        const body = this.#nudge.change(await readBody(answer, Number.POSITIVE_INFINITY))
        response.writeHead(200, [...headers, 'content-length', String(body.length)])
        response.end(body)
        return
      }
      const length = answer.headers['content-length']
      response.writeHead(answer.statusCode ?? 502, answer.statusMessage, [
        ...headers,
        ...(length === undefined ? [] : ['content-length', length]),
      ])
      // Send the headers immediately: they show that a watch has started, long before the first change.
      response.flushHeaders()
      await pipeline(answer, response)
    } catch (error) {
      if (!running.signal.aborted) this.refuse(response, error)
    } finally {
      this.#running.delete(running)
    }
  }

  async #call(request: IncomingMessage, signal: AbortSignal): Promise<UpstreamCall> {
    const { method = 'GET', url = '/' } = request
    const { path, query } = split(url)
    const headers = requestHeaders(request)
    const subresource = parseApiPath(path)?.subresource?.split('/')[0]
    const isConversation = subresource !== undefined && CONVERSATIONS.has(subresource)
    const isStream =
      isConversation || isTrue(query.get('watch')) || isTrue(query.get('follow')) || path.includes('/watch/')
    if (this.#nudge.isFor(request)) delete headers['accept-encoding']
    if (!hasBody(request)) return { method, path: url, headers, body: undefined, isStream, signal }
    if (isConversation) return { method, path: url, headers, body: request, isStream, signal }
    const sent = await readBody(request, LARGEST)
    const body = await this.#labelling.label({
      method,
      path,
      query,
      contentType: request.headers['content-type'] ?? 'application/json',
      userAgent: request.headers['user-agent'] ?? '',
      body: sent,
      signal,
    })
    return { method, path: url, headers: { ...headers, 'content-length': body.length }, body, isStream, signal }
  }

  /**
   * Handles a request for another protocol, SPDY or WebSocket, which exec, attach, port-forward and cp send: connects
   * the client with the real API server.
   */
  async upgrade(request: IncomingMessage, client: Duplex, head: Buffer): Promise<void> {
    const running = new AbortController()
    this.#running.add(running)
    this.#sockets.add(client)
    client.once('close', () => running.abort())
    client.on('error', () => client.destroy())
    try {
      const { url = '/', method = 'GET', headers } = request
      const answer = await this.#upstream.send({
        method,
        path: url,
        headers: { ...requestHeaders(request), connection: 'Upgrade', upgrade: headers.upgrade },
        body: undefined,
        isStream: true,
        signal: running.signal,
      })
      client.write(headOf(answer.response, answer.socket === undefined))
      if (answer.socket === undefined) {
        // The server refuses the upgrade, and its response contains the reason.
        await pipeline(answer.response, client)
        return
      }
      const { socket } = answer
      this.#sockets.add(socket)
      if (answer.head.length > 0) client.write(answer.head)
      if (head.length > 0) socket.write(head)
      await join(client, socket)
      this.#sockets.delete(socket)
    } catch (error) {
      if (!running.signal.aborted && !client.destroyed) this.refuseUpgrade(client, error)
    } finally {
      client.destroy()
      this.#running.delete(running)
      this.#sockets.delete(client)
    }
  }

  refuse(response: ServerResponse, error: unknown): void {
    if (response.headersSent) {
      // A truncated response must not look complete.
      response.destroy()
      return
    }
    const refusal = toRefusal(error)
    response.writeHead(refusal.status, { 'content-type': 'application/json', connection: 'close' })
    response.end(refusal.body)
  }

  refuseUpgrade(socket: Duplex, error: unknown): void {
    const { status, body } = toRefusal(error)
    socket.end(
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
    )
  }

  /** Aborts all running requests. */
  close(): void {
    for (const running of this.#running) running.abort()
    for (const socket of this.#sockets) socket.destroy()
  }
}

/** Time that one side has to read the remaining data after the other side has closed, in milliseconds. */
const FAREWELL = 2_000

/**
 * Copies data in both directions until one connection closes. The other connection receives all pending data before it
 * is closed: closing a connection with unread data would discard that data, for example the error message of a command.
 */
async function join(client: Duplex, server: Duplex): Promise<void> {
  const gone = (one: Duplex, other: Duplex) =>
    new Promise<void>(resolve => {
      one.on('error', () => one.destroy())
      one.once('close', () => {
        other.end()
        other.resume()
        const timer = setTimeout(() => other.destroy(), FAREWELL)
        other.once('close', () => clearTimeout(timer))
        resolve()
      })
    })
  const both = Promise.all([gone(client, server), gone(server, client)])
  client.pipe(server)
  server.pipe(client)
  await both
}

function toRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) return error
  const message = error instanceof Error ? error.message : String(error)
  return new Refusal(500, 'InternalError', `devctl could not hand this on: ${message}`)
}

function split(url: string): { path: string; query: URLSearchParams } {
  const at = url.indexOf('?')
  return at === -1
    ? { path: url, query: new URLSearchParams() }
    : { path: url.slice(0, at), query: new URLSearchParams(url.slice(at + 1)) }
}

const isTrue = (value: string | null) => value !== null && value !== 'false' && value !== '0'

const hasBody = ({ headers }: IncomingMessage) =>
  headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'

/** Returns the headers to forward, each as often as it was sent: impersonating two groups takes two headers. */
function requestHeaders({ headersDistinct }: IncomingMessage): OutgoingHttpHeaders {
  return Object.fromEntries(Object.entries(headersDistinct).filter(([name]) => !OWN_HEADERS.has(name)))
}

/**
 * Returns the headers of a response without those that belong to its connection. Keeps their spelling, and headers that
 * occur several times.
 */
function endToEnd({ rawHeaders }: IncomingMessage): string[] {
  const kept: string[] = []
  for (let at = 0; at < rawHeaders.length; at += 2)
    if (!OWN_HEADERS.has(rawHeaders[at]!.toLowerCase())) kept.push(rawHeaders[at]!, rawHeaders[at + 1]!)
  return kept
}

/**
 * Returns the head of the response to an upgrade request. If the server refuses, the connection is closed after the
 * response.
 */
function headOf(answer: IncomingMessage, isRefused: boolean): string {
  const { statusCode, statusMessage, rawHeaders } = answer
  const lines = [`HTTP/1.1 ${statusCode} ${statusMessage}`]
  const headers = isRefused ? [...endToEnd(answer), 'connection', 'close'] : rawHeaders
  for (let at = 0; at < headers.length; at += 2) lines.push(`${headers[at]}: ${headers[at + 1]}`)
  return `${lines.join('\r\n')}\r\n\r\n`
}
