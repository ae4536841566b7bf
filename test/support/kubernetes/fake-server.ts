import { mkdtempSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Access } from '../../../adapters/kubernetes/connection.ts'
import { kubeconfigAccess } from '../../../adapters/kubernetes/connection.ts'
import { KubeCluster } from '../../../adapters/kubernetes/kube-cluster.ts'
import { Client, type EndedRequest, type Limits } from '../../../adapters/kubernetes/request.ts'

export interface Request {
  readonly method: string
  /** Path without the query. */
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: IncomingMessage['headers']
  readonly body: unknown
}

/** Handler of a request: returns a JSON value to answer with 200 or a status with a body, or answers by itself. */
export type Handler = (request: Request, response: ServerResponse) => object | undefined | Promise<object | undefined>

export interface FakeServer {
  readonly cluster: KubeCluster
  readonly requests: Request[]
  readonly exchanges: EndedRequest[]
  readonly access: Access
  close(): Promise<void>
}

export class Answer {
  readonly status: number
  readonly body: unknown
  constructor(status: number, body: unknown = {}) {
    this.status = status
    this.body = body
  }
}

const NOT_FOUND = new Answer(404, { kind: 'Status', code: 404, reason: 'NotFound', message: 'not found' })

/** Paths of the kinds that the fake server knows. */
const RESOURCES: Readonly<Record<string, object>> = {
  '/api/v1': {
    resources: [
      { name: 'configmaps', kind: 'ConfigMap', namespaced: true },
      { name: 'namespaces', kind: 'Namespace', namespaced: false },
      { name: 'namespaces/finalize', kind: 'Namespace', namespaced: false },
      { name: 'nodes', kind: 'Node', namespaced: false },
      { name: 'pods', kind: 'Pod', namespaced: true },
    ],
  },
  '/apis/example.com/v1': { resources: [{ name: 'gadgets', kind: 'Gadget', namespaced: true }] },
}

/** An API server on plain http that answers as a test says, and a client for it. */
export async function fakeServer(
  handler: Handler,
  user: object = {},
  limits: Partial<Limits> = {},
): Promise<FakeServer> {
  const requests: Request[] = []
  const server = createServer(async (incoming, response) => {
    const { pathname, searchParams } = new URL(incoming.url ?? '/', 'http://fake')
    const parts: Buffer[] = []
    for await (const part of incoming) parts.push(part)
    const text = Buffer.concat(parts).toString()
    const request: Request = {
      method: incoming.method ?? '',
      path: pathname,
      query: searchParams,
      headers: incoming.headers,
      body: text === '' ? undefined : JSON.parse(text),
    }
    requests.push(request)
    const answer = (await handler(request, response)) ?? RESOURCES[pathname]
    if (response.headersSent || response.destroyed) return
    const { status, body } = answer instanceof Answer ? answer : answer ? new Answer(200, answer) : NOT_FOUND
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo // it listens at a port
  const file = join(mkdtempSync(join(tmpdir(), 'devctl-fake-')), 'config')
  const kubeconfig = {
    'current-context': 'fake',
    contexts: [{ name: 'fake', context: { cluster: 'fake', user: 'fake' } }],
    clusters: [{ name: 'fake', cluster: { server: `http://127.0.0.1:${port}` } }],
    users: [{ name: 'fake', user }],
  }
  writeFileSync(file, JSON.stringify(kubeconfig))
  const access = await kubeconfigAccess(undefined, { KUBECONFIG: file })
  const exchanges: EndedRequest[] = []
  const client = new Client(access, { pause: 1, ...limits }, exchange => exchanges.push(exchange))
  return {
    cluster: new KubeCluster('fake', 'default', client),
    requests,
    exchanges,
    access,
    async close() {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
}
