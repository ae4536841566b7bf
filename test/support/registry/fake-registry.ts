import { createHash } from 'node:crypto'
import { createServer, type IncomingHttpHeaders, type RequestListener, type ServerResponse } from 'node:http'
import { createServer as createSecureServer, type ServerOptions } from 'node:https'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'

export interface Request {
  readonly method: string
  /** Path with the query. */
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
  readonly bytes: Buffer
}

/** Writes the answer to a request. */
export type Handler = (request: Request, response: ServerResponse, server: FakeServer) => void | Promise<void>

export interface FakeServer {
  /** `127.0.0.1:PORT`. */
  readonly host: string
  readonly origin: string
  readonly requests: readonly Request[]
}

/**
 * A server on this machine that answers as a test says, until the test is over; with TLS when there are options for it.
 */
export async function fakeServer(handler: Handler, tls?: ServerOptions): Promise<FakeServer> {
  const requests: Request[] = []
  const listener: RequestListener = async (incoming, response) => {
    const { method = '', url = '', headers } = incoming
    const bytes = await buffer(incoming)
    const request = { method, path: url, headers, body: bytes.toString(), bytes }
    requests.push(request)
    await handler(request, response, fake)
  }
  const server = tls ? createSecureServer(tls, listener) : createServer(listener)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}` // a server that listens to a port has one
  const fake = { host, origin: `${tls ? 'https' : 'http'}://${host}`, requests }
  return fake
}

/** Manifest to which every tag of these registries refers. */
export const MANIFEST = '{"schemaVersion":2,"mediaType":"application/vnd.oci.image.index.v1+json","manifests":[]}'
export const DIGEST = `sha256:${createHash('sha256').update(MANIFEST).digest('hex')}`

/** Answers as a registry that has the tag. */
export function giveManifest(response: ServerResponse, digest: string | undefined = DIGEST, body = MANIFEST): void {
  response.writeHead(200, {
    'content-type': 'application/vnd.oci.image.index.v1+json',
    ...(digest && { 'docker-content-digest': digest }),
  })
  response.end(body)
}

/** Answers as a registry that does not give it. */
export function refuse(
  response: ServerResponse,
  status: number,
  code: string,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(JSON.stringify({ errors: [{ code, message: `the words for ${code}` }] }))
}
