import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A registry that has images by some names, and tells their digests. */
export interface StubRegistry {
  /** `127.0.0.1:35000`. */
  readonly host: string
  digestOf(repository: string): string
  close(): void
}

export async function stubRegistry(has: (repository: string) => boolean): Promise<StubRegistry> {
  const manifestOf = (repository: string) => JSON.stringify({ schemaVersion: 2, config: { repository } })
  const digestOf = (repository: string) => `sha256:${createHash('sha256').update(manifestOf(repository)).digest('hex')}`
  const server = createServer(({ url = '' }, response) => {
    if (url === '/v2/') return response.writeHead(200).end('{}')
    const [, repository] = /^\/v2\/(.+)\/manifests\/[^/]+$/.exec(url) ?? []
    if (repository === undefined || !has(repository)) return response.writeHead(404).end('{"errors":[]}')
    return response
      .writeHead(200, {
        'content-type': 'application/vnd.oci.image.manifest.v1+json',
        'docker-content-digest': digestOf(repository),
      })
      .end(manifestOf(repository))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    digestOf,
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}
