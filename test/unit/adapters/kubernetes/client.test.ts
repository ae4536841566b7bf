import { type AddressInfo, createServer as createNetServer } from 'node:net'
import { afterEach, describe, expect, onTestFinished, test } from 'vitest'
import type { Connection } from '../../../../adapters/kubernetes/connection.ts'
import { KubeCluster } from '../../../../adapters/kubernetes/kube-cluster.ts'
import { Client } from '../../../../adapters/kubernetes/request.ts'
import { traceRequests } from '../../../../cli/run/cluster-session.ts'
import { Answer, type FakeServer, fakeServer, type Handler } from '../../../support/kubernetes/fake-server.ts'

let server: FakeServer | undefined
afterEach(() => server?.close())
const serve = async (handler: Handler, ...more: [user?: object, limits?: object]): Promise<FakeServer> => {
  server = await fakeServer(handler, ...more)
  return server
}
const CONFIG = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x', namespace: 'shop' } }
const query = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'shop' }

test('a create that races with another one for the quota is sent again', async () => {
  const message = (name: string) => `Operation cannot be fulfilled on ${name}: the object has been modified`
  const conflict = (name: string) =>
    new Answer(409, { kind: 'Status', code: 409, reason: 'Conflict', message: message(name) })
  const answers = [conflict('resourcequotas "devctl"'), { ...CONFIG, data: {} }]
  const { cluster, requests } = await serve(({ path }) =>
    path.endsWith('/configmaps/x') ? conflict('configmaps "x"') : answers.shift(),
  )
  expect(await cluster.create(CONFIG)).toMatchObject({ metadata: { name: 'x' } })
  expect(requests).toHaveLength(2)
  // A change that is based on an outdated state is not.
  await expect(cluster.replace(CONFIG)).rejects.toMatchObject({ failure: 'conflict' })
  expect(requests).toHaveLength(3)
})

describe('lists', () => {
  /** Serves a list of `total` objects in pages; each new list is of the next of the `versions`. */
  const pages =
    (total: number, isGone: (offset: number, version: string) => boolean = () => false, versions = ['7']): Handler =>
    ({ path, query }) => {
      if (path !== '/api/v1/namespaces/shop/configmaps') return undefined
      const [version, from] = (
        query.get('continue') ?? `${versions.length > 1 ? versions.shift() : versions[0]}/0`
      ).split('/')
      const offset = Number(from)
      if (isGone(offset, version!))
        return new Answer(410, { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' })
      const limit = Number(query.get('limit'))
      const items = Array.from({ length: Math.min(limit, total - offset) }, (_, index) => ({
        metadata: { name: `object-${offset + index}`, namespace: 'shop' },
        data: { version },
      }))
      const next = offset + limit < total ? `${version}/${offset + limit}` : undefined
      return { metadata: { resourceVersion: version, continue: next }, items }
    }

  test('a list of 2,000 objects comes in pages, each object once and with its kind', async () => {
    const { cluster, requests } = await serve(pages(2000))
    const found = await cluster.list(query)
    expect(found.map(({ metadata }) => metadata.name)).toEqual(Array.from({ length: 2000 }, (_, n) => `object-${n}`))
    expect(found[1999]).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap' })
    expect(requests.map(({ query }) => query.get('limit'))).toEqual(['500', '500', '500', '500'])
  })

  test('a list starts again when its state expires between two pages, and never mixes states', async () => {
    const { cluster } = await serve(pages(1200, (offset, version) => version === '7' && offset === 1000, ['7', '8']))
    const found = await cluster.list(query)
    expect(found).toHaveLength(1200)
    expect(new Set(found.map(one => (one['data'] as { version: string }).version))).toEqual(new Set(['8'])) // data of `pages`
  })

  test('a list that expires each time is an error in the end', async () => {
    const { cluster } = await serve(
      pages(1200, offset => offset === 500),
      {},
      { retry: 50 },
    )
    await expect(cluster.list(query)).rejects.toMatchObject({ failure: 'unavailable', status: 410, message: 'too old' })
  })

  test('a list with items that are null is empty, as some servers send it', async () => {
    const { cluster } = await serve(({ path }) =>
      path.endsWith('/configmaps') ? { metadata: { resourceVersion: '1' }, items: null } : undefined,
    )
    expect(await cluster.list(query)).toEqual([])
  })
})

describe('paths', () => {
  test.each([
    ['v1', 'ConfigMap', 'shop', 'a.b-c', '/api/v1/namespaces/shop/configmaps/a.b-c'],
    ['v1', 'ConfigMap', 'shop', 'system:node', '/api/v1/namespaces/shop/configmaps/system%3Anode'],
    ['v1', 'ConfigMap', 'shop', 'a b?c=d&e#f', '/api/v1/namespaces/shop/configmaps/a%20b%3Fc%3Dd%26e%23f'],
    ['v1', 'ConfigMap', 'shop', 'ü…', '/api/v1/namespaces/shop/configmaps/%C3%BC%E2%80%A6'],
    ['v1', 'Namespace', undefined, 'shop', '/api/v1/namespaces/shop'],
    ['example.com/v1', 'Gadget', 'shop', 'x', '/apis/example.com/v1/namespaces/shop/gadgets/x'],
  ])('the path of %s %s %s/%s is escaped', async (apiVersion, kind, namespace, name, path) => {
    const { cluster, requests } = await serve(() => undefined)
    await cluster.get({ apiVersion, kind, namespace, name })
    expect(requests.at(-1)?.path).toBe(path)
  })

  test('a path begins with the path of the server, as behind a gateway', async () => {
    const { access, requests } = await serve(() => undefined)
    const client = new Client({ ...access, server: new URL('/k8s/clusters/c-1/', access.server) })
    await new KubeCluster('x', 'default', client).resource('v1', 'Node')
    expect(requests.map(({ path }) => path)).toEqual(['/k8s/clusters/c-1/api/v1'])
  })

  test('selectors and field managers are escaped', async () => {
    const { cluster, requests } = await serve(({ path, method }) =>
      method === 'PATCH' ? CONFIG : path.endsWith('/configmaps') ? { metadata: {}, items: [] } : undefined,
    )
    await cluster.list({ ...query, labels: 'a in (b,c),d!=e&limit=1' })
    expect(requests.at(-1)?.query.get('labelSelector')).toBe('a in (b,c),d!=e&limit=1')
    expect(requests.at(-1)?.query.get('limit')).toBe('500')
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x', namespace: 'shop' } }
    await cluster.apply(object, { manager: 'a&force=true' })
    expect(requests.at(-1)?.query.get('fieldManager')).toBe('a&force=true')
    expect(requests.at(-1)?.query.get('force')).toBeNull()
  })

  test.each(['', '.', '..', 'a/b', '%2e%2e', 'a%2Fb'])('nothing is sent for the name %j', async name => {
    const { cluster, requests } = await serve(() => undefined)
    await expect(cluster.delete({ ...query, name })).rejects.toMatchObject({ failure: 'invalid' })
    expect(requests).toEqual([])
  })
})

test('a call that gives up while it connects leaves no old error to the next one', async () => {
  const { access } = await serve(({ path }) => (path.endsWith('/x') ? CONFIG : undefined))
  let fail = (_: Error) => {}
  const failing = new Promise<Connection>((_, reject) => {
    fail = reject
  })
  const attempts = [failing, access.connect()]
  const client = new Client({ ...access, connect: () => attempts.shift()! })
  const cluster = new KubeCluster('fake', 'default', client)
  const stop = new AbortController()
  const first = cluster.get({ ...query, name: 'x' }, { signal: stop.signal })
  await new Promise(resolve => setImmediate(resolve))
  stop.abort(new Error('enough'))
  await expect(first).rejects.toThrow('enough')
  fail(new Error('no login'))
  await new Promise(resolve => setImmediate(resolve))
  expect(await cluster.get({ ...query, name: 'x' })).toMatchObject({ metadata: { name: 'x' } })
})

describe('discovery', () => {
  test('discovery requests a group and version once for all callers', async () => {
    const { cluster, requests } = await serve(() => undefined)
    await Promise.all(['Namespace', 'Node', 'Namespace'].map(kind => cluster.resource('v1', kind)))
    await cluster.resource('v1', 'Node')
    expect(requests.map(({ path }) => path)).toEqual(['/api/v1'])
  })

  test('discovery makes no request for kinds that every cluster has', async () => {
    const { cluster, requests } = await serve(() => undefined)
    expect(await cluster.resource('apps/v1', 'Deployment')).toEqual({ name: 'deployments', namespaced: true })
    expect(requests).toEqual([])
    expect(await cluster.resource('apps/v1', 'deployment'), 'another kind, which somebody may have').toBeUndefined()
    expect(requests.map(({ path }) => path)).toEqual(['/apis/apps/v1'])
  })

  test('discovery asks again for a kind that was missing', async () => {
    let isThere = false
    const { cluster } = await serve(({ path }) =>
      path === '/apis/late.com/v1' && isThere
        ? { resources: [{ name: 'things', kind: 'Thing', namespaced: true }] }
        : undefined,
    )
    expect(await cluster.resource('late.com/v1', 'Thing')).toBeUndefined()
    isThere = true
    expect(await cluster.resource('late.com/v1', 'Thing')).toEqual({ name: 'things', namespaced: true })
  })

  test('discovery of all kinds leaves out a group whose last definition was deleted meanwhile', async () => {
    const group = (name: string) => ({ preferredVersion: { groupVersion: `${name}/v1` } })
    const verbs = ['create', 'list', 'delete']
    const { cluster } = await serve(({ path }) =>
      path === '/apis'
        ? { groups: [group('gone.com'), group('here.com')] }
        : path === '/apis/here.com/v1'
          ? { resources: [{ name: 'things', kind: 'Thing', namespaced: true, verbs }] }
          : path === '/apis/gone.com/v1'
            ? new Answer(404, { kind: 'Status', code: 404, reason: 'NotFound', message: 'not found' })
            : undefined,
    )
    const { kinds } = await cluster.kinds()
    expect(kinds.map(({ apiVersion }) => apiVersion).filter(one => one !== 'v1')).toEqual(['here.com/v1'])
  })

  test('discovery of all kinds names a group whose server is down, and finds the others', async () => {
    const verbs = ['create', 'list', 'delete']
    const groups = ['down.com/v1', 'here.com/v1'].map(groupVersion => ({ preferredVersion: { groupVersion } }))
    const { cluster } = await serve(
      ({ path }) =>
        path === '/apis'
          ? { groups }
          : path === '/apis/here.com/v1'
            ? { resources: [{ name: 'things', kind: 'Thing', namespaced: true, verbs }] }
            : path === '/apis/down.com/v1'
              ? new Answer(503, 'service unavailable')
              : undefined,
      {},
      { retry: 50 },
    )
    expect(await cluster.kinds()).toEqual({
      kinds: [{ apiVersion: 'here.com/v1', kind: 'Thing', name: 'things', namespaced: true }],
      unavailable: ['down.com/v1'],
    })
  })

  test('discovery without the core group is an error', async () => {
    const down = ({ path }: { path: string }) =>
      path === '/apis' ? { groups: [] } : path === '/api/v1' ? new Answer(503, 'service unavailable') : undefined
    const { cluster } = await serve(down, {}, { retry: 50 })
    await expect(cluster.kinds()).rejects.toMatchObject({ failure: 'unavailable' })
  })

  test('a caller that gives up leaves no old error to the others', async () => {
    let count = 0
    let begin = () => {}
    const begun = new Promise<void>(resolve => {
      begin = resolve
    })
    const { cluster } = await serve(async ({ path }) => {
      if (path !== '/apis/late.com/v1') return undefined
      if (count++ > 0) return { resources: [{ name: 'things', kind: 'Thing', namespaced: true }] }
      begin()
      await new Promise(resolve => setTimeout(resolve, 50))
      return new Answer(403, { kind: 'Status', code: 403, reason: 'Forbidden', message: 'not yet' })
    })
    const stop = new AbortController()
    const first = cluster.resource('late.com/v1', 'Thing', { signal: stop.signal })
    const second = cluster.resource('late.com/v1', 'Thing')
    await begun
    stop.abort(new Error('enough'))
    await expect(first).rejects.toThrow('enough')
    await expect(second).rejects.toThrow('not yet')
    expect(await cluster.resource('late.com/v1', 'Thing')).toEqual({ name: 'things', namespaced: true })
  })

  test('metrics of Pods, which a metrics server computes, are listed', async () => {
    const item = { metadata: { name: 'web-1', namespace: 'shop' }, timestamp: '2026-01-01T00:00:00Z', window: '15s' }
    const { cluster } = await serve(({ path }) => {
      if (path === '/apis/metrics.k8s.io/v1beta1')
        return { resources: [{ name: 'pods', kind: 'PodMetrics', namespaced: true, verbs: ['get', 'list'] }] }
      return path === '/apis/metrics.k8s.io/v1beta1/namespaces/shop/pods'
        ? { metadata: {}, items: [{ ...item, containers: [] }] }
        : undefined
    })
    const found = await cluster.list({ apiVersion: 'metrics.k8s.io/v1beta1', kind: 'PodMetrics', namespace: 'shop' })
    expect(found).toMatchObject([{ metadata: { name: 'web-1' }, containers: [] }])
  })

  test('discovery of a group whose server is down is an error and not a missing kind', async () => {
    const { cluster } = await serve(
      ({ path }) => (path === '/apis/metrics.k8s.io/v1' ? new Answer(503, 'service unavailable') : undefined),
      {},
      { retry: 50 },
    )
    const failing = cluster.list({ apiVersion: 'metrics.k8s.io/v1', kind: 'PodMetrics', namespace: 'shop' })
    await expect(failing).rejects.toMatchObject({ failure: 'unavailable', status: 503 })
    expect(await cluster.resource('v1', 'Pod')).toBeDefined()
  })
})

describe('answers', () => {
  const get = (handler: Handler, limits: object = {}) =>
    serve(request => (request.path.endsWith('/x') ? handler(request, undefined!) : undefined), {}, limits).then(
      ({ cluster }) => cluster.get({ ...query, name: 'x' }),
    )

  test.each([
    [400, 'BadRequest', 'invalid'],
    [403, 'Forbidden', 'forbidden'],
    [409, 'Conflict', 'conflict'],
    [409, 'AlreadyExists', 'exists'],
    [410, 'Expired', 'unavailable'],
    [422, 'Invalid', 'invalid'],
    [429, 'TooManyRequests', 'unavailable'],
    [500, 'InternalError', 'unavailable'],
    [504, 'Timeout', 'unavailable'],
  ])('an answer %s %s is the failure `%s`', async (code, reason, failure) => {
    const status = {
      kind: 'Status',
      code,
      reason,
      message: 'no',
      details: { causes: [{ field: '.a', message: 'bad', reason: 'R' }] },
    }
    await expect(get(() => new Answer(code, status), { retry: 0 })).rejects.toMatchObject({
      failure,
      status: code,
      reason,
      message: 'no',
      causes: [{ field: '.a', message: 'bad', reason: 'R' }],
    })
  })

  test.each(['<html>', '', '{"a":'])('an answer that is not JSON is refused: %j', async body => {
    const { cluster } = await serve(({ path }, response) => {
      if (path.endsWith('/x')) response.writeHead(200).end(body)
      return undefined
    })
    await expect(cluster.get({ ...query, name: 'x' })).rejects.toMatchObject({
      failure: 'unreachable',
      message: expect.stringContaining('does not answer as a Kubernetes API server does'),
    })
  })

  test('redirects are not followed, so no other server gets the credentials', async () => {
    const { cluster, requests } = await serve(({ path }, response) => {
      if (path.endsWith('/x')) response.writeHead(302, { location: '/elsewhere' }).end()
      return undefined
    })
    await expect(cluster.get({ ...query, name: 'x' })).rejects.toMatchObject({ status: 302 })
    expect(requests.map(({ path }) => path)).not.toContain('/elsewhere')
  })
})

describe('credentials', () => {
  test('calls with refused credentials are sent again and succeed', async () => {
    let refused = 0
    const { cluster, requests } = await serve(
      ({ path }) => (path.endsWith('/x') && refused++ < 3 ? new Answer(401) : undefined),
      { token: 's3cret' },
    )
    await cluster.resource('v1', 'ConfigMap')
    const calls = Array.from({ length: 3 }, () => cluster.get({ ...query, name: 'x' }))
    expect(await Promise.all(calls)).toEqual([undefined, undefined, undefined])
    expect(new Set(requests.map(({ headers }) => headers.authorization))).toEqual(new Set(['Bearer s3cret']))
  })

  test('credentials that stay refused are an error after two requests', async () => {
    const { cluster, requests } = await serve(({ path }) => (path.endsWith('/x') ? new Answer(401) : undefined))
    await expect(cluster.get({ ...query, name: 'x' })).rejects.toMatchObject({ failure: 'unauthorized', status: 401 })
    expect(requests.filter(({ path }) => path.endsWith('/x'))).toHaveLength(2)
  })
})

describe('a server that has not answered yet', () => {
  /** A listener that never answers, and a client of it. */
  async function swallowing(scheme: 'http' | 'https') {
    let connections = 0
    const listener = createNetServer(socket => {
      connections++
      socket.resume().on('error', () => {})
    })
    await new Promise<void>(resolve => listener.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void listener.close())
    const { port } = listener.address() as AddressInfo // it listens at a port
    const server = new URL(`${scheme}://127.0.0.1:${port}`)
    const connection = { headers: {}, calls: undefined, streams: undefined } as unknown as Connection
    const client = new Client({ server, connect: async () => connection }, { first: 400, pause: 1 })
    return { client, server, connections: () => connections }
  }

  test.each([
    ['http', 'took the request but did not answer in 0.4 s'],
    ['https', 'no connection to '],
  ] as const)(
    'a silent server is asked over a second connection, and the error names its time limit: %s',
    async (scheme, words) => {
      const { client, server, connections } = await swallowing(scheme)
      const asked = client.json({ method: 'GET', path: '/api/v1' }, (value): value is object => value !== undefined)
      const failure = await asked.then(
        () => undefined,
        (error: Error) => error.message,
      )
      expect(failure).toContain(words)
      expect(failure).toContain(server.origin)
      expect(failure).toMatch(/ in 0\.4 s$/)
      expect(connections()).toBe(2)
    },
  )

  test('a call succeeds when the server answers over the second connection', async () => {
    let first = true
    const { cluster, requests } = await serve(
      ({ path }) => {
        if (!path.endsWith('/x') || !first) return undefined
        first = false
        return new Promise<never>(() => {})
      },
      {},
      { first: 400 },
    )
    expect(await cluster.get({ ...query, name: 'x' })).toBeUndefined()
    expect(requests.filter(({ path }) => path.endsWith('/x'))).toHaveLength(2)
  })
})

describe('the trace', () => {
  test('the trace has every request with its status, and no secret', async () => {
    const { cluster, exchanges } = await serve(({ method }) => (method === 'PATCH' ? CONFIG : undefined), {
      token: 's3cret',
    })
    const secret = { ...query, kind: 'ConfigMap', metadata: { name: 'x', namespace: 'shop' }, data: { a: 's3cret' } }
    await cluster.apply(secret, { manager: 'devctl' })
    await cluster.get({ ...query, name: 'none' })
    expect(exchanges.map(({ method, path, status }) => `${method} ${path} ${status}`)).toEqual([
      'PATCH /api/v1/namespaces/shop/configmaps/x?fieldManager=devctl&fieldValidation=Strict 200',
      'GET /api/v1/namespaces/shop/configmaps/none 404',
    ])
    expect(JSON.stringify(exchanges)).not.toContain('s3cret')
  })

  test('the trace counts requests that are sent again, even if there was no answer', async () => {
    let cuts = 0
    const { cluster, exchanges } = await serve(({ path }, response) => {
      if (path.endsWith('/x') && cuts++ < 2) response.destroy()
      return undefined
    })
    await cluster.get({ ...query, name: 'x' })
    expect(exchanges.map(({ status }) => status)).toEqual([undefined, undefined, 404])
  })

  test('the trace is printed to stderr at `debug` and at no other level', () => {
    const told: string[] = []
    const stderr = { isTTY: false, write: (more: string) => void told.push(more) }
    const io = { stdout: stderr, stderr, readStdin: async () => new Uint8Array(), env: {}, cwd: '/' }
    const { trace, end } = traceRequests(io, 'debug')
    trace?.({ method: 'GET', path: '/api/v1', status: 200, milliseconds: 12.4 })
    trace?.({ method: 'GET', path: '/api/v1', status: undefined, milliseconds: 3 })
    end()
    expect(told.join('')).toBe(
      'debug: GET /api/v1 200 12 ms\ndebug: GET /api/v1 no answer 3 ms\ndebug: 2 requests to the cluster\n',
    )
    for (const level of ['info', 'warn', 'error', undefined] as const) {
      const quiet = traceRequests(io, level)
      quiet.end()
      expect(quiet.trace).toBeUndefined()
    }
    expect(told).toHaveLength(3)
  })
})

describe('many calls at once', () => {
  test('calls wait for a connection outside of the time limit of a request', async () => {
    const slow = () => new Promise<undefined>(resolve => setTimeout(() => resolve(undefined), 20))
    const limits = { connect: 200, retry: 0 }
    const { cluster } = await serve(({ path }) => (path.endsWith('/x') ? slow() : undefined), {}, limits)
    // 25 rounds of eight: the last ones wait for longer than a connection may take.
    const calls = Array.from({ length: 200 }, () => cluster.get({ ...query, name: 'x' }))
    expect(new Set(await Promise.all(calls))).toEqual(new Set([undefined]))
  })

  test('calls that are aborted while they wait leave their turn to others', async () => {
    const done = new AbortController()
    const waiting: (() => void)[] = []
    const hold = () => new Promise<undefined>(resolve => waiting.push(() => resolve(undefined)))
    const { cluster, requests } = await serve(({ path }) => (path.endsWith('/x') ? hold() : undefined))
    await cluster.resource('v1', 'ConfigMap')
    const first = Array.from({ length: 8 }, () => cluster.get({ ...query, name: 'x' }))
    const aborted = Array.from({ length: 8 }, () => cluster.get({ ...query, name: 'x' }, { signal: done.signal }))
    const last = cluster.get({ ...query, name: 'y' })
    done.abort(new Error('enough'))
    for (const call of aborted) await expect(call).rejects.toThrow('enough')
    while (waiting.length < 8) await new Promise(resolve => setTimeout(resolve, 5))
    for (const answer of waiting) answer()
    await Promise.all([...first, last])
    expect(requests.filter(({ path }) => path.endsWith('/x'))).toHaveLength(8)
  })
})

describe('logs', () => {
  const pod = { name: 'web', namespace: 'shop' }

  test('logs make the server wait if the container prints faster than the caller reads', async () => {
    const line = `${'x'.repeat(1023)}\n`
    let sent = 0
    const { cluster } = await serve(({ path }, response) => {
      if (!path.endsWith('/log')) return undefined
      response.writeHead(200)
      const print = () => {
        while (!response.destroyed && response.write(line.repeat(64))) sent += 64
        sent += 64
        if (!response.destroyed) response.once('drain', print)
      }
      print()
      return new Promise(() => {})
    })
    let read = 0
    for await (const text of cluster.logs(pod, { container: 'main', follow: true })) {
      expect(text).toHaveLength(1023)
      if (++read === 10) {
        // The server continues until all buffers between it and the client are full, and then stops.
        let before: number
        do {
          before = sent
          await new Promise(resolve => setTimeout(resolve, 50))
        } while (sent > before)
        expect(sent).toBeLessThan(32 * 1024)
      }
      if (read === 20_000) break
    }
    expect(sent).toBeGreaterThan(20_000)
  })

  test('logs without any line end come in pieces, so memory is bounded', async () => {
    const { cluster } = await serve(({ path }, response) => {
      if (path.endsWith('/log')) response.writeHead(200).end('x'.repeat(5 << 20))
      return undefined
    })
    let all = 0
    for await (const text of cluster.logs(pod, { container: 'main' })) {
      expect(text.length).toBeLessThan(1.5 * (1 << 20))
      all += text.length
    }
    expect(all).toBe(5 << 20)
  })

  test('logs as bytes are those that the server sent, without added or removed line ends', async () => {
    const bytes = Buffer.from([0xff, 0x00, 0x1b, 0x0d, 0x0a, 0xc3, 0xa9, 0x0a, 0xe2])
    const { cluster } = await serve(({ path, query }, response) => {
      if (path.endsWith('/log') && query.get('container') === 'main') response.writeHead(200).end(bytes)
      return undefined
    })
    const parts: Uint8Array[] = []
    for await (const part of cluster.logBytes(pod, { container: 'main' })) parts.push(part)
    expect(Buffer.concat(parts)).toEqual(bytes)
  })

  test('logs that break off are an error, and logs that the caller leaves are closed', async () => {
    let isClosed: Promise<unknown> | undefined
    const { cluster } = await serve(({ path, query }, response) => {
      if (!path.endsWith('/log')) return undefined
      isClosed = new Promise(resolve => response.on('close', resolve))
      response.writeHead(200)
      response.write('one\ntwo\nthr', () => query.get('container') === 'cut' && response.destroy())
      return new Promise(() => {})
    })
    const seen: string[] = []
    const reading = (async () => {
      for await (const text of cluster.logs(pod, { container: 'cut', follow: true })) seen.push(text)
    })()
    await expect(reading).rejects.toMatchObject({ failure: 'unreachable' })
    expect(seen).toEqual(['one', 'two'])
    for await (const _ of cluster.logs(pod, { container: 'left', follow: true })) break
    await isClosed
  })
})
