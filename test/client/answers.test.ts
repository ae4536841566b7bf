import { afterEach, describe, expect, test } from 'vitest'
import type { Cluster, KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { Answer, type FakeServer, fakeServer } from './fake-server.ts'

let server: FakeServer | undefined
afterEach(() => server?.close())

const CONFIG: KubeObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x', namespace: 'shop' } }
const ref = { apiVersion: 'v1', kind: 'ConfigMap', name: 'x', namespace: 'shop' }
const query = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'shop' }
const gadgets = { apiVersion: 'example.com/v1', kind: 'Gadget', namespace: 'shop' }

const LIMITS = { retry: 250, first: 250, lost: 250, read: 1000 }

/** A server that answers every call for objects with this text, and one that asks for kinds with `kinds`. */
async function answering(text: string, { status = 200, type = 'application/json' } = {}, discovery?: string) {
  server = await fakeServer(
    ({ path }, response) => {
      const isDiscovery = /^\/(api|apis)(\/[^/]+){0,2}$/.test(path)
      if (isDiscovery && discovery === undefined) return undefined
      response.writeHead(isDiscovery ? 200 : status, { 'content-type': type }).end(isDiscovery ? discovery : text)
      return undefined
    },
    {},
    LIMITS,
  )
  return server.cluster
}

const METHODS: Readonly<Record<string, (cluster: Cluster) => Promise<unknown>>> = {
  get: cluster => cluster.get(ref),
  list: cluster => cluster.list(query),
  apply: cluster => cluster.apply(CONFIG, { manager: 'devctl' }),
  create: cluster => cluster.create(CONFIG),
  replace: cluster => cluster.replace(CONFIG),
  delete: cluster => cluster.delete(ref),
  watch: async cluster => {
    for await (const change of cluster.watch(query, { signal: AbortSignal.timeout(5000) }))
      if (change.type === 'Listed') return
  },
}

/** What no Kubernetes API server answers, and what it is called. */
const STRANGE: Readonly<Record<string, readonly [text: string, named: string]>> = {
  'an empty object': ['{}', 'JSON with parts missing'],
  null: ['null', '`null`'],
  'a list': ['[]', 'a list'],
  'a number': ['1', '`1`'],
  'nothing at all': ['', 'nothing'],
  'a page': ['<!DOCTYPE html><title>Sign in</title>', 'a web page'],
  'a text': ['it works', 'text that is not JSON'],
  'truncated JSON': ['{"kind":"ConfigMap","metadata":{"na', 'truncated JSON'],
  'metadata that is null': ['{"apiVersion":"v1","kind":"ConfigMap","metadata":null,"items":[]}', 'JSON with parts'],
  'a list with a gap': [
    '{"apiVersion":"v1","kind":"ConfigMapList","metadata":{"resourceVersion":"1"},"items":[null]}',
    'JSON with parts',
  ],
}

describe('what is no answer of a Kubernetes API server is named with its address and status', () => {
  for (const method of Object.keys(METHODS))
    test.each(Object.keys(STRANGE))(`${method}: %s`, async name => {
      const [text, named] = STRANGE[name]!
      // A Status with a kind is an answer to a deletion, and so is an object; a watch that ends at once is taken up again.
      if (method === 'delete' && text.includes('"kind"') && !named.includes('off')) return
      if (method === 'watch' && text === '') return
      const cluster = await answering(text)
      await expect(METHODS[method]!(cluster)).rejects.toMatchObject({
        failure: 'unreachable',
        status: 200,
        message: expect.stringMatching(
          /^`(GET|PATCH|POST|PUT|DELETE) http:\/\/127\.0\.0\.1:\d+\/api\/v1\/namespaces\/shop\/configmaps(\/x)?` does not answer as a Kubernetes API server does: status 200, /,
        ),
      })
      await expect(METHODS[method]!(cluster)).rejects.toThrow(named)
    })

  test.each(['{}', 'null', '<html>', '{"resources":[null]}', '{"resources":{}}'])('discovery: %s', async text => {
    const cluster = await answering('{}', {}, text)
    await expect(cluster.list(gadgets)).rejects.toThrow('/apis/example.com/v1` does not answer as a Kubernetes API')
  })

  test('a page in the place of a log, and in that of a watch', async () => {
    const cluster = await answering('<html>', { type: 'text/html; charset=utf-8' })
    const read = async () => {
      for await (const line of cluster.logs({ name: 'web', namespace: 'shop' }, { container: 'web' })) return line
      return undefined
    }
    await expect(read()).rejects.toThrow('/pods/web/log` does not answer as a Kubernetes API server does')
    await expect(METHODS['watch']!(cluster)).rejects.toThrow('a web page')
  })

  test.each([403, 404, 409, 422])('a page with status %s says nothing about objects', async status => {
    const cluster = await answering('<html>not here</html>', { status, type: 'text/html' })
    await expect(cluster.get(ref)).rejects.toMatchObject({ failure: 'unreachable', status })
    await expect(cluster.apply(CONFIG, { manager: 'devctl' })).rejects.toMatchObject({ failure: 'unreachable', status })
  })

  test('but for a group that is not there an API server has a plain text', async () => {
    const cluster = await answering('404 page not found\n', { status: 404, type: 'text/plain' })
    expect(await cluster.get(ref)).toBeUndefined()
  })

  test.each([
    '{"type":"ADDED"}',
    '{"type":"ADDED","object":null}',
    '{"type":"MODIFIED","object":{"metadata":{}}}',
    '{"type":"BOOKMARK","object":{}}',
    '{"type":"NEWS","object":{"metadata":{"name":"x"}}}',
    'null',
    '{}',
  ])('an event of a watch: %s', async line => {
    const cluster = await answering(`${line}\n`)
    await expect(METHODS['watch']!(cluster)).rejects.toThrow('does not answer as a Kubernetes API server does')
  })
})

describe('what may pass', () => {
  const passing = async (status: number, body: object, times: number) => {
    let left = times
    server = await fakeServer(({ path }) =>
      path.endsWith('/x') ? (left-- > 0 ? new Answer(status, body) : CONFIG) : undefined,
    )
    return server
  }

  test.each([410, 429, 500, 502, 503, 504])('%s is ridden out, also when it comes five times', async status => {
    const { cluster } = await passing(status, { kind: 'Status', code: status, message: 'later' }, 5)
    expect(await cluster.get(ref)).toMatchObject({ metadata: { name: 'x' } })
  })

  test('a webhook that fails is tried three times', async () => {
    const message = 'Internal error occurred: failed calling webhook "a.example.com": failed to call webhook: refused'
    const { cluster, requests } = await passing(500, { kind: 'Status', code: 500, message }, 9)
    await expect(cluster.apply(CONFIG, { manager: 'devctl' })).rejects.toThrow(message)
    expect(requests).toHaveLength(3)
  })

  test('a value of the wrong type is a 500, and stays one', async () => {
    const message = 'failed to create typed patch object (shop/x; v1, Kind=ConfigMap): .data: expected map'
    const { cluster, requests } = await passing(500, { kind: 'Status', code: 500, message }, 9)
    await expect(cluster.apply(CONFIG, { manager: 'devctl' })).rejects.toMatchObject({ failure: 'invalid' })
    expect(requests).toHaveLength(1)
  })
})
