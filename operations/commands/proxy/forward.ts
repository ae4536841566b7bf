import { type IncomingMessage, type OutgoingHttpHeaders, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { parseApiPath } from './api-path.ts'
import { ApplyNudge } from './apply-nudge.ts'
import type { Labelling } from './labelling.ts'
import { Refusal } from './status.ts'
import { readBody, type Upstream, type UpstreamCall } from './upstream.ts'

/** More than the API server takes (3 MiB). */
const LARGEST = 8 << 20
/**
 * Subresources that are a conversation, or whatever an application behind the API server makes of
 * it.
 */
const CONVERSATIONS = new Set(['log', 'exec', 'attach', 'portforward', 'proxy'])
/** Headers that are about one connection, and the credentials of our own. */
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

/** Hands requests on to the real API server and its answers back. */
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
      // Send the headers at once: they show that a watch has begun, long before the first change.
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
   * Joins a client and the real server that want to speak another protocol: SPDY or WebSocket, for
   * exec, attach, port-forward and cp.
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
        // The server refuses, and says why.
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
      // Half an answer must not look like a whole one.
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

  /** Ends what is running. */
  close(): void {
    for (const running of this.#running) running.abort()
    for (const socket of this.#sockets) socket.destroy()
  }
}

/** Milliseconds that an end has to read the last data after the other end has closed. */
const FAREWELL = 2_000

/**
 * Copies data in both directions until one connection closes. The other one then receives all pending data before it is
 * closed: closing a connection with unread data would discard that, for example the error of a command.
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

/** Each as often as it was sent: two groups to act as are two headers. */
function requestHeaders({ headersDistinct }: IncomingMessage): OutgoingHttpHeaders {
  return Object.fromEntries(Object.entries(headersDistinct).filter(([name]) => !OWN_HEADERS.has(name)))
}

/**
 * The headers of an answer that are not about its connection, as they were written: several of one
 * name, too.
 */
function endToEnd({ rawHeaders }: IncomingMessage): string[] {
  const kept: string[] = []
  for (let at = 0; at < rawHeaders.length; at += 2)
    if (!OWN_HEADERS.has(rawHeaders[at]!.toLowerCase())) kept.push(rawHeaders[at]!, rawHeaders[at + 1]!)
  return kept
}

/** The head of an answer to a request to upgrade. One that refuses ends with its connection. */
function headOf(answer: IncomingMessage, isRefused: boolean): string {
  const { statusCode, statusMessage, rawHeaders } = answer
  const lines = [`HTTP/1.1 ${statusCode} ${statusMessage}`]
  const headers = isRefused ? [...endToEnd(answer), 'connection', 'close'] : rawHeaders
  for (let at = 0; at < headers.length; at += 2) lines.push(`${headers[at]}: ${headers[at + 1]}`)
  return `${lines.join('\r\n')}\r\n\r\n`
}
