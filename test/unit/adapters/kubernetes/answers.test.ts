import { describe, expect, type TestContext, test } from 'vitest'
import type { Cluster, KubeObject } from '../../../../adapters/kubernetes/cluster.ts'
import { Answer, fakeServer } from '../../../support/kubernetes/fake-server.ts'

const CONFIG: KubeObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x', namespace: 'shop' } }
const ref = { apiVersion: 'v1', kind: 'ConfigMap', name: 'x', namespace: 'shop' }
const query = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'shop' }
const gadgets = { apiVersion: 'example.com/v1', kind: 'Gadget', namespace: 'shop' }

const LIMITS = { retry: 250, first: 10_000, lost: 250, read: 10_000 }

/** Answers every call for objects with `text`, and one that asks for kinds with `discovery`. */
async function answering(
  { onTestFinished }: TestContext,
  text: string,
  { status = 200, type = 'application/json' } = {},
  discovery?: string,
): Promise<Cluster> {
  const server = await fakeServer(
    ({ path }, response) => {
      const isDiscovery = /^\/(api|apis)(\/[^/]+){0,2}$/.test(path)
      if (isDiscovery && discovery === undefined) return undefined
      response.writeHead(isDiscovery ? 200 : status, { 'content-type': type }).end(isDiscovery ? discovery : text)
      return undefined
    },
    {},
    LIMITS,
  )
  onTestFinished(() => server.close())
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

/** Responses that no Kubernetes API server gives, and the error's name for each. */
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

// A failed watch is tried again until its time limit, so the tests wait at the same time.
describe.concurrent('answers that are not from a Kubernetes API server', () => {
  for (const method of Object.keys(METHODS))
    test.for(Object.keys(STRANGE))(`${method} refuses %s as an answer`, async (name, context) => {
      const [text, named] = STRANGE[name]!
      // A Status with a kind is an answer to a deletion, and so is an object; a watch that ends at once is started
      // again.
      if (method === 'delete' && text.includes('"kind"') && named !== 'truncated JSON') return
      if (method === 'watch' && text === '') return
      const cluster = await answering(context, text)
      const error = await METHODS[method]!(cluster).catch((error: unknown) => error)
      expect(error).toMatchObject({
        failure: 'unreachable',
        status: 200,
        message: expect.stringMatching(
          /^`(GET|PATCH|POST|PUT|DELETE) http:\/\/127\.0\.0\.1:\d+\/api\/v1\/namespaces\/shop\/configmaps(\/x)?` does not answer as a Kubernetes API server does: status 200, /,
        ),
      })
      expect((error as Error).message).toContain(named)
    })

  const discoveries = ['{}', 'null', '<html>', '{"resources":[null]}', '{"resources":{}}']
  test.for(discoveries)('discovery refuses the answer %s', async (text, context) => {
    const cluster = await answering(context, '{}', {}, text)
    await expect(cluster.list(gadgets)).rejects.toThrow('/apis/example.com/v1` does not answer as a Kubernetes API')
  })

  test('logs and watch refuse a page as an answer', async context => {
    const cluster = await answering(context, '<html>', { type: 'text/html; charset=utf-8' })
    const read = async () => {
      for await (const line of cluster.logs({ name: 'web', namespace: 'shop' }, { container: 'web' })) return line
      return undefined
    }
    await expect(read()).rejects.toThrow('/pods/web/log` does not answer as a Kubernetes API server does')
    await expect(METHODS['watch']!(cluster)).rejects.toThrow('a web page')
  })

  test.for([403, 404, 409, 422])('get and apply refuse a page with status %s', async (status, context) => {
    const cluster = await answering(context, '<html>not here</html>', { status, type: 'text/html' })
    await expect(cluster.get(ref)).rejects.toMatchObject({ failure: 'unreachable', status })
    await expect(cluster.apply(CONFIG, { manager: 'devctl' })).rejects.toMatchObject({ failure: 'unreachable', status })
  })

  test('get accepts a plain text with status 404, which API servers send for a missing group', async context => {
    const cluster = await answering(context, '404 page not found\n', { status: 404, type: 'text/plain' })
    expect(await cluster.get(ref)).toBeUndefined()
  })

  test.for([
    '{"type":"ADDED"}',
    '{"type":"ADDED","object":null}',
    '{"type":"MODIFIED","object":{"metadata":{}}}',
    '{"type":"BOOKMARK","object":{}}',
    '{"type":"NEWS","object":{"metadata":{"name":"x"}}}',
    'null',
    '{}',
  ])('watch refuses the event %s', async (line, context) => {
    const cluster = await answering(context, `${line}\n`)
    await expect(METHODS['watch']!(cluster)).rejects.toThrow('does not answer as a Kubernetes API server does')
  })
})

describe('temporary failures', () => {
  const passing = async ({ onTestFinished }: TestContext, status: number, body: object, times: number) => {
    let left = times
    const server = await fakeServer(({ path }) =>
      path.endsWith('/x') ? (left-- > 0 ? new Answer(status, body) : CONFIG) : undefined,
    )
    onTestFinished(() => server.close())
    return server
  }

  test.for([410, 429, 500, 502, 503, 504])(
    'a request is sent again after status %s, even five times',
    async (status, context) => {
      const { cluster } = await passing(context, status, { kind: 'Status', code: status, message: 'later' }, 5)
      expect(await cluster.get(ref)).toMatchObject({ metadata: { name: 'x' } })
    },
  )

  test('a request is sent three times when a webhook fails', async context => {
    const message = 'Internal error occurred: failed calling webhook "a.example.com": failed to call webhook: refused'
    const { cluster, requests } = await passing(context, 500, { kind: 'Status', code: 500, message }, 9)
    await expect(cluster.apply(CONFIG, { manager: 'devctl' })).rejects.toThrow(message)
    expect(requests).toHaveLength(3)
  })

  test('a request is sent once when status 500 means a value of the wrong type', async context => {
    const message = 'failed to create typed patch object (shop/x; v1, Kind=ConfigMap): .data: expected map'
    const { cluster, requests } = await passing(context, 500, { kind: 'Status', code: 500, message }, 9)
    await expect(cluster.apply(CONFIG, { manager: 'devctl' })).rejects.toMatchObject({ failure: 'invalid' })
    expect(requests).toHaveLength(1)
  })
})

test('create accepts a review without a name, because it is not stored', async context => {
  const review = { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectRulesReview', metadata: {}, status: {} }
  const kinds = { resources: [{ name: 'selfsubjectrulesreviews', kind: review.kind, namespaced: false }] }
  const cluster = await answering(context, JSON.stringify(review), { status: 201 }, JSON.stringify(kinds))
  const asked = { apiVersion: review.apiVersion, kind: review.kind, metadata: { name: '' } }
  expect(await cluster.create(asked)).toEqual(review)
})
