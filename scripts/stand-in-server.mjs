import { createServer } from 'node:http'

const DIGEST = `sha256:${'0'.repeat(64)}`

/**
 * Starts a stand-in for an API server that contains only a namespace and accepts every object, which is enough for a
 * deploy to finish. It is also a registry that has every image. Returns its port, and a function that closes it.
 */
export async function standInServer() {
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default' } }
  const objects = new Map([['/api/v1/namespaces/default', namespace]])
  const server = createServer(async (request, response) => {
    if (request.url.startsWith('/v2/')) return response.writeHead(200, { 'docker-content-digest': DIGEST }).end()
    const { pathname, searchParams } = new URL(request.url, 'http://localhost')
    const parts = []
    for await (const part of request) parts.push(part)
    const answer = (status, body) => response.writeHead(status).end(JSON.stringify(body))
    if (request.method === 'GET' && searchParams.has('limit')) {
      const items = [...objects].filter(([path]) => path.startsWith(`${pathname}/`)).map(([, object]) => object)
      return answer(200, { metadata: {}, items })
    }
    if (request.method === 'GET')
      return objects.has(pathname) ? answer(200, objects.get(pathname)) : answer(404, { kind: 'Status', code: 404 })
    if (request.method === 'DELETE') {
      objects.delete(pathname)
      return answer(200, { kind: 'Status' })
    }
    const object = JSON.parse(Buffer.concat(parts))
    const path = request.method === 'POST' ? `${pathname}/${object.metadata.name}` : pathname
    if (!searchParams.has('dryRun')) objects.set(path, object)
    return answer(200, object)
  })
  await new Promise(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    port: server.address().port,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}
