import { readFileSync } from 'node:fs'
import { Agent, createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { request } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { KubeconfigAccess } from '../../../../../adapters/kubernetes/connection.ts'
import type { LabellingProxy } from '../../../../../adapters/kubernetes/labelling-proxy/labelling-proxy.ts'

export interface Received {
  readonly method: string
  readonly url: string
  readonly headers: IncomingMessage['headers']
  readonly distinct: IncomingMessage['headersDistinct']
  readonly body: Buffer
}

/**
 * A stand-in for an API server: keeps what it is sent, and answers with objects that a test gives it, or with what it
 * was sent.
 */
export class ApiServer {
  readonly received: Received[] = []
  /** Objects by path. */
  readonly objects = new Map<string, unknown>()
  /** Answers in place of the usual; true when it did. */
  answer: (request: Received, response: ServerResponse) => boolean = () => false
  /** Number of times that credentials were fetched anew. */
  renewals = 0
  readonly server: Server

  constructor() {
    this.server = createServer(async (message, response) => {
      const parts: Buffer[] = []
      for await (const part of message as AsyncIterable<Buffer>) parts.push(part)
      const { method = '', url = '', headers, headersDistinct: distinct } = message
      const received = { method, url, headers, distinct, body: Buffer.concat(parts) }
      this.received.push(received)
      if (this.answer(received, response)) return
      const found = method === 'GET' ? this.objects.get(url.split('?')[0]!) : undefined
      if (method === 'GET' && found === undefined) response.writeHead(404).end('{}')
      else
        response
          .writeHead(200, { 'content-type': 'application/json' })
          .end(found ? JSON.stringify(found) : received.body)
    })
  }

  async listen(): Promise<void> {
    await new Promise<void>(resolve => this.server.listen(0, '127.0.0.1', resolve))
  }

  /** Returns the requests that write, without the proxy's own queries. */
  get writes(): readonly Received[] {
    return this.received.filter(({ method }) => method !== 'GET')
  }

  get access(): KubeconfigAccess {
    const { port } = this.server.address() as AddressInfo
    return {
      context: 'kind-dev',
      namespace: 'default',
      server: new URL(`http://127.0.0.1:${port}/base`),
      connect: async fresh => {
        if (fresh) this.renewals++
        const headers = { authorization: `Bearer real-${this.renewals}`, 'Impersonate-User': 'ann' }
        return { headers, auth: undefined, calls: new Agent({ keepAlive: true }), streams: new Agent() }
      },
    }
  }

  close(): void {
    this.server.closeAllConnections()
    this.server.close()
  }
}

export interface Answer {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly body: string
  readonly bytes: Buffer
}

export interface Sent {
  readonly method?: string
  readonly body?: unknown
  readonly type?: string
  readonly headers?: Readonly<Record<string, string | string[]>>
  readonly token?: string
}

/**
 * Sends a request through the proxy as its kubeconfig says; bodies are printed as JSON unless they are bytes or text.
 */
export function send(
  proxy: LabellingProxy,
  path: string,
  { method, body, type, headers, token }: Sent = {},
): Promise<Answer> {
  const config = JSON.parse(readFileSync(proxy.variables['KUBECONFIG']!, 'utf8'))
  const [{ cluster }] = config.clusters
  const [{ user }] = config.users
  const payload = body === undefined || Buffer.isBuffer(body) || typeof body === 'string' ? body : JSON.stringify(body)
  return new Promise((resolve, reject) => {
    const sent = request(
      `${cluster.server}${path}`,
      {
        method: method ?? (body === undefined ? 'GET' : 'POST'),
        ca: Buffer.from(cluster['certificate-authority-data'], 'base64'),
        headers: {
          authorization: `Bearer ${token ?? user.token}`,
          ...(payload !== undefined && { 'content-type': type ?? 'application/json' }),
          ...headers,
        },
        agent: false,
      },
      async response => {
        const parts: Buffer[] = []
        for await (const part of response as AsyncIterable<Buffer>) parts.push(part)
        const bytes = Buffer.concat(parts)
        const { statusCode = 0, headers } = response
        resolve({ status: statusCode, headers, body: bytes.toString('utf8'), bytes })
      },
    )
    sent.on('error', reject)
    sent.end(payload)
  })
}
