import { createHash } from 'node:crypto'
import { type FakeServer, fakeServer, type Handler, refuse } from './fake-registry.ts'

/** A registry of one repository, `team/shop`, that keeps what is pushed. */
export interface MemoryRegistry extends FakeServer {
  readonly blobs: Map<string, Buffer>
  /** Manifests by tag. */
  readonly manifests: Map<string, { readonly type: string; readonly bytes: Buffer }>
  /** `HOST/team/shop`. */
  readonly name: string
  /** Returns the requests so far, without the ids of uploads. */
  asked(): readonly string[]
}

const digestOf = (bytes: Buffer) => `sha256:${createHash('sha256').update(bytes).digest('hex')}`

/** Starts a registry in memory; `before` may answer a request instead, and then returns true. */
export async function memoryRegistry(
  before: (...given: Parameters<Handler>) => boolean | Promise<boolean> = () => false,
): Promise<MemoryRegistry> {
  const blobs: MemoryRegistry['blobs'] = new Map()
  const manifests: MemoryRegistry['manifests'] = new Map()
  const server = await fakeServer(async (request, response, fake) => {
    if (await before(request, response, fake)) return
    const { method, path, headers, bytes } = request
    const [, kind = '', name = ''] = /^\/v2\/team\/shop\/(manifests|blobs)\/([^?]*)/.exec(path) ?? []
    if (path === '/v2/') return void response.end('{}')
    if (kind === 'manifests' && method === 'PUT') {
      const type = headers['content-type'] ?? ''
      const { config, layers = [], manifests: parts = [] } = JSON.parse(bytes.toString())
      const has = (known: ReadonlyMap<string, unknown>, all: readonly { digest: string }[]) =>
        all.every(({ digest }) => known.has(digest))
      if (!has(blobs, config ? [config, ...layers] : layers) || !has(manifests, parts))
        return refuse(response, 400, 'MANIFEST_BLOB_UNKNOWN')
      manifests.set(name, { type, bytes })
      return void response.writeHead(201, { 'docker-content-digest': digestOf(bytes) }).end()
    }
    if (kind === 'blobs' && method === 'POST')
      return void response.writeHead(202, { location: '/v2/team/shop/blobs/uploads/1?state=a%2Bb' }).end()
    if (kind === 'blobs' && method === 'PUT') {
      const digest = new URL(path, 'http://registry').searchParams.get('digest')!
      if (digest !== digestOf(bytes)) return refuse(response, 400, 'DIGEST_INVALID')
      blobs.set(digest, bytes)
      return void response.writeHead(201).end()
    }
    const manifest = kind === 'manifests' ? manifests.get(name) : undefined
    const found = manifest?.bytes ?? blobs.get(name)
    if (!found) return refuse(response, 404, kind === 'blobs' ? 'BLOB_UNKNOWN' : 'MANIFEST_UNKNOWN')
    const type = manifest?.type ?? 'application/octet-stream'
    response.writeHead(200, { 'content-type': type, 'docker-content-digest': digestOf(found) }).end(found)
  })
  return {
    ...server,
    blobs,
    manifests,
    name: `${server.host}/team/shop`,
    asked: () => server.requests.map(({ method, path }) => `${method} ${path.split('?')[0]}`),
  }
}
