import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import type { KubeconfigAccess } from '../connection.ts'
import { makeCertificate } from './certificate.ts'
import { Forwarder } from './forward.ts'
import { writeKubeconfig } from './kubeconfig.ts'
import { Labelling, type WrittenKind } from './labelling.ts'
import { Refusal } from './status.ts'
import { Upstream } from './upstream.ts'

export type { WrittenKind } from './labelling.ts'

export interface ProxyOptions {
  /** The user's own connection to the cluster, from `kubeconfigAccess`. */
  readonly access: KubeconfigAccess
  readonly environment: string
  /** Namespace of the environment. */
  readonly namespace: string
  /**
   * Called before the first object of a kind is written; the write waits for the promise. The environment's record can
   * then list the kind before the object exists, so that the object is found even after a crash. If the call fails, the
   * write is refused.
   */
  readonly remember?: (kind: WrittenKind) => Promise<void>
}

export interface LabellingProxy {
  /** `KUBECONFIG` and the other variables that make kubectl and helm use the proxy. */
  readonly variables: Readonly<Record<string, string>>
  /** Values that must never be shown. */
  readonly secrets: readonly string[]
  readonly port: number
  /** Returns the kinds of the objects written so far. */
  written(): readonly WrittenKind[]
  /** Closes all connections and removes the kubeconfig. */
  close(): Promise<void>
}

/**
 * Starts an API server on 127.0.0.1 that forwards all requests to the real one, with the user's credentials, and adds
 * the environment's labels to the objects that are written. Accepts only clients with its token. It speaks TLS because
 * kubectl sends no token over plain HTTP. Connections that stay open (watch, log, exec, port-forward) are forwarded
 * unchanged.
 */
export async function startLabellingProxy(options: ProxyOptions): Promise<LabellingProxy> {
  const { access, environment, namespace, remember = async () => {} } = options
  const token = randomBytes(32).toString('base64url')
  const { key, certificate, authority } = makeCertificate(Date.now())
  const upstream = new Upstream(access)
  const labelling = new Labelling({ environment, namespace }, upstream, remember)
  const forwarder = new Forwarder(upstream, labelling)

  const server = createServer({ key, cert: certificate, minVersion: 'TLSv1.2' })
  // The real server limits the duration of requests, and the client decides how long a connection stays open.
  Object.assign(server, { requestTimeout: 0, keepAliveTimeout: 0 })
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    if (isLetIn(request, token)) void forwarder.forward(request, response)
    else forwarder.refuse(response, unknownToken())
  })
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    if (isLetIn(request, token)) void forwarder.upgrade(request, socket, head)
    else forwarder.refuseUpgrade(socket, unknownToken())
  })
  // A client that does not speak TLS or disconnects is no error of the proxy.
  server.on('tlsClientError', (_, socket) => socket.destroy())
  server.on('clientError', (_, socket) => socket.destroy())
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host: '127.0.0.1', port: 0 }, resolve)
  })
  const { port } = server.address() as AddressInfo // it listens on a port, not on a path

  const kubeconfig = writeKubeconfig({ context: access.context, namespace, port, authority, token })
  process.once('exit', kubeconfig.remove)
  return {
    variables: kubeconfig.variables,
    secrets: [token],
    port,
    written: () => labelling.written,
    async close() {
      process.removeListener('exit', kubeconfig.remove)
      kubeconfig.remove()
      forwarder.close()
      await new Promise<void>(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
    },
  }
}

function isLetIn({ headers }: IncomingMessage, token: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  // Digests have equal lengths, and the comparison takes the same time for all contents.
  return timingSafeEqual(digest(headers.authorization ?? ''), digest(`Bearer ${token}`))
}

const unknownToken = () =>
  new Refusal(401, 'Unauthorized', 'this is the proxy of a running `devctl`, for its own commands only')
