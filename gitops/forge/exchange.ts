import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage, type RequestOptions } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { isIP, type Socket } from 'node:net'
import { connect as tlsConnect } from 'node:tls'

export interface Message {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH'
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
}

export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

/** Milliseconds without a byte after which a server counts as gone. */
const SILENCE = 30_000
/** Bytes; an answer that is longer is none of a forge. */
const LONGEST = 20_000_000

/**
 * Sends one request, once, through the proxy if there is one, and reads the whole answer, whatever its status. Rejects with what Node says
 * of the connection, or the reason of the signal. (Node 20 has no way to send `fetch` through a proxy.)
 */
export async function exchange(
  message: Message,
  proxy: URL | undefined,
  signal: AbortSignal | undefined,
): Promise<Answer> {
  const isSecure = message.url.protocol === 'https:'
  const tunnel = proxy && isSecure ? await openTunnel(message.url, proxy, signal) : undefined
  try {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const options: RequestOptions = {
        method: message.method,
        headers: {
          ...message.headers,
          ...(message.body !== undefined && { 'content-length': Buffer.byteLength(message.body) }),
        },
        ...(signal && { signal }),
        // A connection of its own: there are a handful of calls in all.
        ...(tunnel
          ? { createConnection: () => tlsConnect({ socket: tunnel, ...nameOf(message.url) }) }
          : { agent: false }),
      }
      const sent = (isSecure ? httpsRequest : httpRequest)(message.url, options, resolve)
      sent.setTimeout(SILENCE, () => sent.destroy(silent(message.url)))
      sent.on('error', reject)
      sent.end(message.body)
    })
    return { status: response.statusCode ?? 0, headers: response.headers, text: await readText(response) }
  } catch (error) {
    signal?.throwIfAborted()
    throw error
  } finally {
    tunnel?.destroy()
  }
}

async function readText(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of response) {
    chunks.push(chunk)
    size += chunk.length
    if (size > LONGEST) throw Object.assign(new Error('the answer does not end'), { code: 'EMSGSIZE' })
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** A connection to a server through a proxy (https://www.rfc-editor.org/rfc/rfc9110#CONNECT); the proxy sees no more than the host. */
function openTunnel(server: URL, proxy: URL, signal: AbortSignal | undefined): Promise<Socket> {
  const target = `${server.hostname}:${server.port || 443}`
  const login = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`
  const headers = {
    host: target,
    ...(login !== ':' && { 'proxy-authorization': `Basic ${Buffer.from(login).toString('base64')}` }),
  }
  const request = proxy.protocol === 'https:' ? httpsRequest : httpRequest
  return new Promise((resolve, reject) => {
    const { hostname: host, port } = proxy
    const sent = request({
      method: 'CONNECT',
      host: host.replace(/^\[|\]$/g, ''),
      port,
      path: target,
      headers,
      agent: false,
      ...(signal && { signal }),
    })
    sent.setTimeout(SILENCE, () => sent.destroy(silent(proxy)))
    sent.on('error', reject)
    sent.on('connect', ({ statusCode }, socket) => {
      if (statusCode === 200) return resolve(socket)
      socket.destroy()
      reject(Object.assign(new Error(`the proxy \`${proxy.host}\` answers ${statusCode}`), { code: 'EPROXY' }))
    })
    sent.end()
  })
}

/** Whom the certificate must be for. An address is no name that a client may ask for. */
const nameOf = ({ hostname }: URL) => {
  const host = hostname.replace(/^\[|\]$/g, '')
  return isIP(host) === 0 ? { host, servername: host } : { host }
}

const silent = (server: URL) =>
  Object.assign(new Error(`\`${server.host}\` says nothing for ${SILENCE / 1000} s`), { code: 'ETIMEDOUT' })
