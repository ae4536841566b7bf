import { getEventListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type Change, type Cluster, ClusterError, type KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import { kubeconfigAccess } from '../../../adapters/kubernetes/connection.ts'
import { connect, KubeCluster } from '../../../adapters/kubernetes/kube-cluster.ts'
import { Client, type Limits } from '../../../adapters/kubernetes/request.ts'
import { eventually } from '../../support/cluster/cluster.ts'
import { type Asked, type Fault, FaultProxy, TcpProxy } from '../../support/cluster/fault-proxy.ts'
import { few, longTest } from '../../support/takes-all.ts'

/** Limits of the client for faults of the connection or of the API server, which are short to keep the tests short. */
const LIMITS: Partial<Limits> = {
  connect: 500,
  read: 400,
  write: 400,
  retry: 3_000,
  first: 3_000,
  pause: 20,
  silence: 1_500,
}
/** Limits for faults that do not pass: giving up after 3 s takes the same code path as giving up at once. */
const IMPATIENT: Partial<Limits> = { ...LIMITS, read: 200, write: 200, retry: 250 }
/** Milliseconds within which every call must have ended, with or without success. */
const BOUND = 6_000

const namespace = `devctl-faults-${process.pid}`
const manager = 'faults'
const config = (name: string, data: object = { a: '1' }, more: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace, ...more },
  data,
})
const ref = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', name, namespace })
/** Object of a kind that the client has to discover first. */
const discovered = { ...ref('any'), kind: 'LimitRange' }
const all = { apiVersion: 'v1', kind: 'ConfigMap', namespace, labels: 'faults' }
const ofObjects = ({ path }: Asked) => path.includes('/configmaps') || path.includes('/log?')

async function clusterOf(kubeconfig: string, limits: Partial<Limits> = LIMITS): Promise<Cluster> {
  const access = await kubeconfigAccess(undefined, { KUBECONFIG: kubeconfig })
  return new KubeCluster('faulty', namespace, new Client(access, limits))
}

/** Calls of each method, with a check of its effect. `real` is the cluster without faults. */
const METHODS: Readonly<Record<string, (cluster: Cluster, name: string, signal?: AbortSignal) => Promise<unknown>>> = {
  get: async (cluster, name, signal) => expect((await cluster.get(ref(name), { signal }))?.metadata.name).toBe(name),
  list: async (cluster, name, signal) => {
    const names = (await cluster.list(all, { signal })).map(({ metadata }) => metadata.name)
    expect(names).toContain(name)
  },
  apply: async (cluster, name, signal) =>
    expect((await cluster.apply(config(name, { a: '2' }), { manager, force: true, signal }))['data']).toEqual({
      a: '2',
    }),
  create: async (cluster, name, signal) =>
    expect((await cluster.create(config(`${name}-new`), { signal }))['data']).toEqual({ a: '1' }),
  replace: async (cluster, name, signal) => {
    const { resourceVersion } = (await real.get(ref(name)))!.metadata
    const replaced = await cluster.replace(config(name, { a: '3' }, { resourceVersion }), { signal })
    expect(replaced['data']).toEqual({ a: '3' })
  },
  delete: async (cluster, name, signal) => {
    const { uid } = (await real.get(ref(name)))!.metadata
    expect(await cluster.delete(ref(name), { uid, signal })).toBe(true)
    expect(await real.get(ref(name))).toBeUndefined()
  },
  watch: async (cluster, name, signal) => {
    for await (const change of cluster.watch(all, { signal }))
      if (change.type === 'Changed' && change.object.metadata.name === name) return
  },
}

let real: Cluster
let proxy: FaultProxy
let cluster: Cluster
let impatient: Cluster
let kubeconfig: string
let counter = 0

describe.skipIf(!process.env.KUBECONFIG)('a faulty connection to the API server', () => {
  beforeAll(async () => {
    real = await connect({ env: process.env })
    await real.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
    proxy = new FaultProxy()
    kubeconfig = await proxy.open()
    cluster = await clusterOf(kubeconfig)
    impatient = await clusterOf(kubeconfig, IMPATIENT)
    await impatient.get(ref('none'))
    await cluster.get(ref('none'))
  })
  afterEach(() => proxy.heal())
  afterAll(async () => {
    await proxy?.close()
    await real?.delete({ apiVersion: 'v1', kind: 'Namespace', name: namespace })
  })

  const fresh = async () => {
    const name = `object-${counter++}`
    await real.create(config(name, { a: '1' }, { labels: { faults: '' } }))
    return name
  }

  const PASSING: readonly (readonly [what: string, fault: Fault])[] = [
    ['an answer that is lost', 'cut-after'],
    ['503', { status: 503, headers: { 'retry-after': '1' } }],
    ['an answer that never begins', 'stall'],
    ['a connection that is cut before', 'cut-before'],
    ['an answer that breaks off', 'cut-inside'],
    ['an answer that stops in the middle', 'stall-inside'],
    ['429', { status: 429, headers: { 'retry-after': '1' }, body: 'slow down' }],
    ['500', { status: 500, body: 'Internal Server Error' }],
    ['502 with a page of a gateway', { status: 502, body: '<html>Bad gateway</html>' }],
  ]
  describe.each(Object.keys(METHODS))('%s', method => {
    /**
     * Returns all faults for a method that reads and one that writes, the first for other methods; all in `npm run
     * test:long`.
     */
    const some = <T>(cases: readonly T[]) => (['get', 'apply'].includes(method) ? cases : few(cases))
    test.each(some(PASSING))('the call continues after %s', async (_, fault) => {
      const name = await fresh()
      proxy.inject(fault, ofObjects)
      await within(BOUND, METHODS[method]!(cluster, name))
    })

    test.each(some(['cut-after', 'stall', 'cut-before', 'cut-inside', 'stall-inside'] as const))(
      'the call fails with `unreachable` if the fault is always %s',
      async fault => {
        const name = await fresh()
        proxy.inject(fault, ofObjects, Number.POSITIVE_INFINITY)
        const error = await within(BOUND, failureOf(METHODS[method]!(impatient, name)))
        expect(error).toMatchObject({ failure: 'unreachable' })
        expect(error.message).toMatch(/127\.0\.0\.1:\d+` (was cut|took the request but did not answer)/)
      },
    )

    test.each(some([503, 429, 500]))('the call fails with `unavailable` if the status is always %s', async status => {
      const name = await fresh()
      proxy.inject({ status }, ofObjects, Number.POSITIVE_INFINITY)
      const error = await within(BOUND, failureOf(METHODS[method]!(impatient, name)))
      expect(error).toMatchObject({ failure: 'unavailable', status })
      expect(error.message).toMatch(new RegExp(`^the server answered ${status} to [A-Z]+ /api`))
    })

    test('the call ends soon after its signal is aborted', async () => {
      const name = await fresh()
      proxy.inject('stall', ofObjects, Number.POSITIVE_INFINITY)
      const before = proxy.asked.length
      const done = new AbortController()
      const patient = await clusterOf(kubeconfig, {})
      const waiting = METHODS[method]!(patient, name, done.signal).catch(error => error)
      await eventually('it is asked', async () => proxy.asked.slice(before).some(ofObjects) || undefined, {
        seconds: 15,
        pause: 10,
      })
      const reason = new Error('enough')
      done.abort(reason)
      expect(await within(1_000, waiting)).toBe(reason)
    })
  })

  test('a create of an existing object is an error, even if its response was lost', async () => {
    const name = await fresh()
    proxy.inject('cut-after', ofObjects)
    const error = await failureOf(cluster.create(config(name, { a: 'mine' })))
    expect(error).toMatchObject({ failure: 'exists' })
  })

  test('a replace with an old version is an error, even if its response was lost', async () => {
    const name = await fresh()
    const { resourceVersion } = (await real.get(ref(name)))!.metadata
    await real.replace(config(name, { a: 'theirs' }, { resourceVersion }))
    proxy.inject('cut-after', ofObjects)
    const error = await failureOf(cluster.replace(config(name, { a: 'mine' }, { resourceVersion })))
    expect(error).toMatchObject({ failure: 'conflict' })
  })

  test('a request after 429 is not repeated before the time that the server gives', async () => {
    const name = await fresh()
    proxy.inject({ status: 429, headers: { 'retry-after': '1' } }, ofObjects)
    const begin = performance.now()
    await cluster.get(ref(name))
    expect(performance.now() - begin).toBeGreaterThan(990)
  })

  test('a call fails at once if the server asks for more time than its limit', async () => {
    const name = await fresh()
    proxy.inject({ status: 503, headers: { 'retry-after': '3600' } }, ofObjects)
    expect(await within(500, failureOf(cluster.get(ref(name))))).toMatchObject({ failure: 'unavailable', status: 503 })
  })

  test('discovery that fails is repeated by the next call, and not cached', async () => {
    const another = await clusterOf(kubeconfig)
    const ofKinds = ({ path }: Asked) => path === '/api/v1'
    proxy.inject({ status: 503 }, ofKinds, Number.POSITIVE_INFINITY)
    expect(await failureOf(another.get(discovered))).toMatchObject({ failure: 'unavailable' })
    expect(await failureOf(another.list({ ...all, kind: 'LimitRange' }))).toMatchObject({ failure: 'unavailable' })
    proxy.heal()
    expect(await another.get(discovered)).toBeUndefined()
  })

  test('discovery continues for other callers when one of them is aborted', async () => {
    const another = await clusterOf(kubeconfig)
    proxy.inject('stall', ({ path }) => path === '/api/v1')
    const done = new AbortController()
    const [first, second] = [another.get(discovered, { signal: done.signal }), another.get(discovered)]
    done.abort(new Error('enough'))
    await expect(first).rejects.toThrow('enough')
    expect(await within(BOUND, second)).toBeUndefined()
  })

  test('discovery is aborted when its last caller is aborted', async () => {
    const another = await clusterOf(kubeconfig, {})
    // Connections of earlier tests may be about to close, so their number alone proves nothing.
    let isAsked = false
    proxy.inject('stall', ({ path }) => {
      isAsked ||= path === '/api/v1'
      return path === '/api/v1'
    })
    const done = new AbortController()
    const waiting = another.get(discovered, { signal: done.signal }).catch(() => {})
    await eventually('it is asked', async () => isAsked || undefined, { seconds: 15, pause: 10 })
    const open = proxy.openConnections
    done.abort()
    await waiting
    await eventually('it is cut', async () => proxy.openConnections < open || undefined, { seconds: 6, pause: 10 })
    expect(await another.get(discovered)).toBeUndefined()
  })

  test('a signal that many calls share keeps no listeners', async () => {
    const name = await fresh()
    const { signal } = new AbortController()
    const warnings: unknown[] = []
    const warned = (warning: unknown) => void warnings.push(warning)
    process.on('warning', warned)
    await Promise.all(Array.from({ length: 100 }, () => cluster.get(ref(name), { signal })))
    await sleep(50)
    process.off('warning', warned)
    expect(warnings).toEqual([])
    // @types/node knows this for other event targets only.
    expect(getEventListeners(signal as unknown as EventTarget, 'abort')).toEqual([])
  })

  describe('a watch', () => {
    const label = () => ({ labels: { watched: `w${counter++}` } })
    const collect = (of: Cluster, selector: string) => {
      const done = new AbortController()
      const seen: string[] = []
      const query = { apiVersion: 'v1', kind: 'ConfigMap', namespace, labels: selector }
      const end = (async () => {
        for await (const change of of.watch(query, { signal: done.signal }))
          if (change.type !== 'Listed') seen.push(told(change))
      })().catch(error => error)
      const until = (last: string) =>
        eventually(`the watch tells ${last}`, async () => seen.at(-1) === last || undefined, {
          explain: async () => seen.join('\n'),
          seconds: 60,
          pause: 10,
        })
      const stop = async () => {
        done.abort('enough')
        expect(await within(1_000, end)).toBe('enough')
      }
      return { seen, until, stop, end }
    }
    const begin = async () => {
      const more = label()
      const name = `watch-${counter++}`
      const watch = collect(cluster, `watched=${more.labels.watched}`)
      await watch.until('Restarted')
      const set = (value: string) => real.apply(config(name, { a: value }, more), { manager, force: true })
      await set('1')
      await watch.until(`Changed ${name} 1`)
      return { ...watch, name, set }
    }

    test('a watch continues at its version after a cut connection, and repeats no change', async () => {
      const { seen, until, stop, name, set } = await begin()
      for (const value of ['2', '3', '4']) {
        proxy.cut()
        await set(value)
        await until(`Changed ${name} ${value}`)
      }
      await stop()
      expect(seen).toEqual(['Restarted', ...['1', '2', '3', '4'].map(value => `Changed ${name} ${value}`)])
    })

    test('a watch restarts when the server has forgotten the version', async () => {
      const { seen, until, stop, name, set } = await begin()
      proxy.inject('gone', ({ path }) => path.includes('watch=true'))
      proxy.cut()
      await eventually('it begins anew', async () => seen.length === 4 || undefined, { seconds: 30, pause: 10 })
      await set('2')
      await until(`Changed ${name} 2`)
      await stop()
      expect(seen).toEqual(['Restarted', `Changed ${name} 1`, 'Restarted', `Changed ${name} 1`, `Changed ${name} 2`])
    })

    test('a watch restarts also when the response itself is 410', async () => {
      const { seen, stop } = await begin()
      proxy.inject({ status: 410 }, ({ path }) => path.includes('watch=true'), 2)
      proxy.cut()
      await eventually('it begins anew', async () => seen.length === 4 || undefined, { seconds: 30, pause: 10 })
      await stop()
    })

    test('a watch continues after the server was down for three seconds', async () => {
      const { seen, until, stop, name, set } = await begin()
      await proxy.refuse()
      await set('2')
      await sleep(3_000)
      await proxy.accept()
      await until(`Changed ${name} 2`)
      await stop()
      expect(seen).toEqual(['Restarted', `Changed ${name} 1`, `Changed ${name} 2`])
    })

    longTest('a watch continues after a silence that is longer than the server allows', async () => {
      const more = label()
      const watch = collect(cluster, `watched=${more.labels.watched}`)
      await watch.until('Restarted')
      const watches = () => proxy.asked.filter(({ path }) => path.includes(`watched%3D${more.labels.watched}`)).length
      await eventually('it is asked again', async () => watches() >= 4 || undefined, { seconds: 30, pause: 50 })
      await real.apply(config(`silent-${counter}`, { a: '1' }, more), { manager })
      await watch.until(`Changed silent-${counter} 1`)
      await watch.stop()
    })

    test('a watch does not flood a server that ends each watch at once', async () => {
      proxy.inject({ status: 200 }, ({ path }) => path.includes('watch=true'), Number.POSITIVE_INFINITY)
      const watch = collect(cluster, 'watched=none')
      await watch.until('Restarted')
      const before = proxy.asked.length
      await sleep(2_000)
      expect(proxy.asked.length - before).toBeLessThan(8)
      await watch.stop()
    })

    test('a watch ends when the user loses the right to watch', async () => {
      const watch = collect(cluster, 'watched=none')
      await watch.until('Restarted')
      const body = JSON.stringify({ kind: 'Status', code: 403, reason: 'Forbidden', message: 'you may not' })
      proxy.inject({ status: 403, body }, ({ path }) => path.includes('watch=true'))
      proxy.cut()
      expect(await within(BOUND, watch.end)).toMatchObject({ failure: 'forbidden', message: 'you may not' })
    })
  })

  describe('faults before the first connection', () => {
    test('a server that is down fails a first call at once, and is waited for if it has responded', async () => {
      const another = await clusterOf(kubeconfig)
      await proxy.refuse()
      const first = await within(500, failureOf(another.get(ref('any'))))
      expect(first).toMatchObject({ failure: 'unreachable', message: expect.stringMatching(/^nothing listens at/) })
      const waiting = cluster.get(ref('any'))
      await sleep(500)
      await proxy.accept()
      expect(await within(BOUND, waiting)).toBeUndefined()
    })

    // The test `connect` tests this with the program.
    longTest('TLS that is never answered or is cut fails the call', async () => {
      const tcp = new TcpProxy()
      try {
        const secure = await clusterOf(await tcp.open())
        // The client tries more connections within the time for a server that has not responded yet.
        tcp.mode = 'stall'
        const stalled = await within(BOUND, failureOf(secure.get(ref('any'))))
        expect(stalled).toMatchObject({
          failure: 'unreachable',
          message: expect.stringMatching(/^no connection to .* in [23](\.\d)? s$/),
        })
        tcp.mode = 'cut'
        const cut = await within(BOUND, failureOf(secure.get(ref('any'))))
        expect(cut).toMatchObject({ failure: 'unreachable' })
        tcp.mode = 'open'
        expect(await secure.get(ref('any'))).toBeUndefined()
      } finally {
        await tcp.close()
      }
    })
  })
})

const told = (change: Change): string =>
  !('object' in change)
    ? change.type
    : `${change.type} ${change.object.metadata.name} ${(change.object['data'] as { a?: string } | undefined)?.a}` // a ConfigMap's data

/** Returns the ClusterError that a call fails with. */
async function failureOf(call: Promise<unknown>): Promise<ClusterError> {
  const error = await call.then(
    () => new Error('it was done'),
    error => error,
  )
  if (!(error instanceof ClusterError)) throw error
  return error
}

/** Returns the result of the call, or throws if it takes longer than `milliseconds`. */
async function within<T>(milliseconds: number, call: Promise<T>): Promise<T> {
  const late = sleep(milliseconds).then(() => {
    throw new Error(`nothing after ${milliseconds} ms`)
  })
  late.catch(() => {})
  return Promise.race([call, late])
}
