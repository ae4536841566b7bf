import { expect, test, vi } from 'vitest'
import { ClusterError } from '../../../../../adapters/kubernetes/cluster.ts'
import type { RunRecord } from '../../../../../platform/records/run.ts'
import { toToken } from '../../../../../platform/records/token.ts'
import type { ServerContext } from '../../../../../platform/server/context.ts'
import { Tokens } from '../../../../../platform/server/login/tokens.ts'
import { RunController } from '../../../../../platform/server/runs/run-controller.ts'
import { MemoryCluster } from '../../../../support/memory-cluster/memory-cluster.ts'

/** Timeout in milliseconds that is enough on a busy machine. */
const LONG = { timeout: 15_000 }

const USER = 'a'.repeat(16)

// A cluster cannot be made to show these faults, so the parts of the server beside the queue are simulated.

type Parts = ConstructorParameters<typeof RunController>[1]

/** Parts of the server, of which a test replaces one. */
interface Mutable {
  readonly runs: {
    change: (id: string) => Promise<undefined>
    stop: (id: string, stop: { readonly why: string }) => Promise<undefined>
  }
  readonly tokens: Tokens
  readonly namespaces: { find: (name: string) => Promise<unknown> }
  sleep: { readonly wake: (which: { readonly name: string }) => Promise<void> }
}

const run = (id: string, more: Partial<RunRecord> = {}) =>
  ({
    id,
    namespace: 'shop',
    namespaceUid: 'n',
    environment: id,
    user: USER,
    action: 'deploy',
    found: {},
    ...more,
  }) as RunRecord

function keeperOf(live: readonly RunRecord[], find: (user: string) => Promise<unknown>, deadline = 3600, now = 1000) {
  const log: string[] = []
  const settled: string[] = []
  const cluster = new MemoryCluster({ namespaces: ['devctl-runs', 'devctl-users'] })
  cluster.register({ apiVersion: 'batch/v1', kind: 'Job', name: 'jobs', namespaced: true, hasStatus: true })
  const world = {
    cluster,
    settings: { runs: { image: 'x', url: 'http://p', perUser: 3, inAll: 10, deadline }, domain: 'dev.example.com' },
    now: () => now,
    random: (bytes: number) => Buffer.alloc(bytes, 7),
    log: ({ text }: { readonly text: string }) => log.push(text),
  } as unknown as ServerContext
  const runs = {
    list: async ({ isLive }: { readonly isLive?: boolean }) => (isLive ? live : []),
    stop: async () => undefined,
    change: async (id: string) => void settled.push(id),
  }
  const tokens = new Tokens(world)
  const members = live.map(({ namespace, user }) => ({ namespace, user, role: 'developer' }))
  const namespaces = { find: async () => ({ namespace: { status: 'Active' }, members }) }
  const parts = { runs, tokens, namespaces, users: { find } } as unknown as Parts
  return { keeper: new RunController(world, parts), log, settled, cluster, parts: parts as unknown as Mutable }
}

test('a run that cannot start delays no other, and its error is logged once', async () => {
  const live = [run('a', { state: 'queued' }), run('b', { state: 'failed' })]
  const { keeper, log, settled } = keeperOf(live, async () => {
    throw new TypeError('a record is broken')
  })
  for (let look = 0; look < 2; look++) {
    await keeper.run(AbortSignal.timeout(60_000))
    await keeper.settled()
  }
  expect(settled).toContain('b')
  expect(log).toEqual(['run a: a record is broken'])
})

test('the token of a run is valid for longer than the run may take', async () => {
  const live = [run('a', { state: 'queued' })]
  const { keeper, cluster, log } = keeperOf(live, async () => ({ id: USER, role: 'developer' }), 4 * 3600)
  await cluster.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } })
  const job = await cluster.create({
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'r-a', namespace: 'devctl-runs' },
    spec: { suspend: true },
  })
  const version = job.metadata.resourceVersion!
  live[0] = run('a', { state: 'queued', namespaceUid: await uidOf(cluster), version })
  await cluster.create({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'r-a-held', namespace: 'devctl-runs' },
    data: { variables: Buffer.from('{}').toString('base64') },
  })
  await keeper.run(AbortSignal.timeout(60_000))
  expect(log).toEqual([])
  const secrets = await cluster.list({ apiVersion: 'v1', kind: 'Secret', namespace: 'devctl-users' }, {})
  const [token] = secrets.flatMap(one => toToken(one) ?? [])
  expect(Date.parse(token!.expires)).toBe(1000 + (4 * 3600 + 600) * 1000)
})

test('a namespace that wakes slowly delays only its own run', async () => {
  const live = [run('a', { action: 'deploy', state: 'queued', namespace: 'slow' }), run('b', { state: 'queued' })]
  const { keeper, cluster, log, parts } = keeperOf(live, async () => ({ id: USER, role: 'developer' }))
  for (const [at, one] of live.entries()) {
    const { metadata } = await cluster.create({
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: one.namespace },
    })
    const made = { namespace: 'devctl-runs', name: `r-${one.id}` }
    const job = await cluster.create({ apiVersion: 'batch/v1', kind: 'Job', metadata: made, spec: { suspend: true } })
    live[at] = { ...one, namespaceUid: metadata.uid!, version: job.metadata.resourceVersion! }
    const held = { namespace: 'devctl-runs', name: `r-${one.id}-held` }
    const data = { variables: Buffer.from('{}').toString('base64') }
    await cluster.create({ apiVersion: 'v1', kind: 'Secret', metadata: held, data })
  }
  const statuses = new Map([['slow', 'Sleeping']])
  parts.namespaces.find = async name => ({
    namespace: { name, status: statuses.get(name) ?? 'Active' },
    members: [{ namespace: name, user: USER, role: 'developer' }],
  })
  // Random numbers are fixed in this test, so two issued tokens would be the same.
  vi.spyOn(parts.tokens, 'issue').mockResolvedValue({ text: 'token' } as Awaited<ReturnType<Tokens['issue']>>)
  let wakes = 0
  let awake = () => {}
  parts.sleep = {
    wake: ({ name }) =>
      new Promise<void>(resolve => {
        wakes++
        awake = () => {
          statuses.delete(name)
          resolve()
        }
      }),
  }
  const started = async () => {
    const jobs = await cluster.list({ apiVersion: 'batch/v1', kind: 'Job', namespace: 'devctl-runs' }, {})
    return jobs.flatMap(({ metadata, ...job }) =>
      (job['spec'] as { suspend?: boolean }).suspend === false ? [metadata.name] : [],
    )
  }
  const pass = () => keeper.run(AbortSignal.timeout(60_000))
  await pass()
  live.pop()
  await pass()
  expect([await started(), wakes]).toEqual([['r-b'], 1])
  awake()
  await keeper.settled()
  await pass()
  expect([await started(), wakes]).toEqual([['r-a', 'r-b'], 1])
  expect(log).toEqual([])
})

test('a stopping run loses its credentials when its user is suspended', async () => {
  const stop = { why: 'cancelled', time: '1970-01-01T00:00:00Z' } as const
  const live = [run('a', { state: 'stopping', stop }), run('b', { state: 'stopping', stop, user: 'b'.repeat(16) })]
  const find = async (id: string) => ({ id, role: 'developer', ...(id === USER && { isSuspended: true }) })
  const { keeper, cluster, parts } = keeperOf(live, find, 3600, 10_000)
  const namespace = 'devctl-runs'
  await cluster.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } })
  const uid = await uidOf(cluster)
  for (const [at, one] of live.entries()) {
    live[at] = { ...one, namespaceUid: uid }
    await cluster.create({ apiVersion: 'v1', kind: 'Secret', metadata: { name: `r-${one.id}-input`, namespace } })
    await cluster.create({
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name: `r-${one.id}`, namespace },
      spec: {},
    })
  }
  const stopped: string[] = []
  parts.runs.stop = async (id, { why }) => void stopped.push(`${id} ${why}`) as undefined
  // The refusal does not wait for the end of the run, which may take a minute.
  const looking = keeper.run(AbortSignal.timeout(60_000))
  await vi.waitFor(() => expect(stopped).toEqual(['a refused']), LONG)
  await looking
  const left = await cluster.list({ apiVersion: 'v1', kind: 'Secret', namespace }, {})
  expect(left.map(({ metadata }) => metadata.name)).toEqual(['r-b-input'])
  await keeper.settled()
})

test('few ended runs are settled at the same time, and no user delays the others', async () => {
  const users = ['a', 'b', 'c', 'd'].map(letter => letter.repeat(16))
  // Runs are listed from the newest to the oldest, so the ids decrease.
  const live = Array.from({ length: 12 }, (_, at) =>
    run(`${99 - at}`, { state: at % 2 ? 'failed' : 'succeeded', user: users[at < 6 ? 3 : at % 3] }),
  )
  const { keeper, settled, parts } = keeperOf(live, async () => undefined)
  const open = new Map<string, () => void>()
  let most = 0
  parts.runs.change = async id => {
    most = Math.max(most, open.size + 1)
    await new Promise<void>(resolve => open.set(id, resolve))
    settled.push(id)
    open.delete(id)
    return undefined
  }
  const look = () => keeper.run(AbortSignal.timeout(60_000))
  await look()
  await vi.waitFor(() => expect(open.size).toBe(4), LONG)
  await look()
  const begun = live.filter(({ id }) => open.has(id)).map(({ user }) => user)
  expect(begun.filter(user => user === users[3]).length).toBeLessThanOrEqual(2)
  while (live.length > 0) {
    const before = settled.length
    for (const done of open.values()) done()
    await vi.waitFor(() => expect(settled.length).toBeGreaterThan(before), LONG)
    live.splice(0, live.length, ...live.filter(({ id }) => !settled.includes(id)))
    if (live.length === 0) break
    await vi.waitFor(async () => {
      await look()
      expect(open.size).toBeGreaterThan(0)
    }, LONG)
  }
  expect(new Set(settled).size).toBe(12)
  expect(most).toBe(4)
})

test('a run whose user no longer exists ends at once, even while other runs cannot be settled', async () => {
  const ended = Array.from({ length: 4 }, (_, at) => run(`9${at}`, { state: 'failed', user: `${at}`.repeat(16) }))
  const stopping = run('a', { state: 'stopping', uid: 'x', stop: { why: 'refused', time: '2026-01-01T00:00:00Z' } })
  const { keeper, cluster, parts, log } = keeperOf([stopping, ...ended], async () => undefined)
  parts.runs.change = () => new Promise(() => {})
  const job = await cluster.create({
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'r-a', namespace: 'devctl-runs' },
    spec: { suspend: false },
  })
  Object.assign(stopping, { uid: job.metadata.uid })
  const input = { apiVersion: 'v1', kind: 'Secret', name: 'r-a-input', namespace: 'devctl-runs' }
  const { apiVersion, kind, ...metadata } = input
  await cluster.create({ apiVersion, kind, metadata })
  const { record } = await parts.tokens.issue({ kind: 'run', label: 'r-a', user: USER })
  await keeper.run(AbortSignal.timeout(60_000))
  expect(log).toEqual([])
  expect((await cluster.get({ ...input, apiVersion: 'batch/v1', kind: 'Job', name: 'r-a' }))?.spec).toEqual({
    suspend: true,
  })
  expect(await cluster.get(input)).toBeUndefined()
  expect(await parts.tokens.find(record.id)).toBeUndefined()
})

test('a run that is stopped while the API server fails logs one error, and leaves no rejection unhandled', async () => {
  const stop = { why: 'cancelled', time: '1970-01-01T00:00:00Z' } as const
  const { keeper, cluster, log } = keeperOf([run('a', { state: 'stopping', uid: 'x', stop })], async () => undefined)
  cluster.before = () => {
    throw new ClusterError('unreachable', 'the API server does not answer')
  }
  const unhandled: unknown[] = []
  const note = (error: unknown) => void unhandled.push(error)
  process.on('unhandledRejection', note)
  await keeper.run(AbortSignal.timeout(60_000))
  await keeper.settled()
  await new Promise(resolve => setTimeout(resolve, 10))
  process.off('unhandledRejection', note)
  expect(log).toEqual(['run a: the API server does not answer'])
  expect(unhandled).toEqual([])
})

async function uidOf(cluster: MemoryCluster): Promise<string> {
  return (await cluster.get({ apiVersion: 'v1', kind: 'Namespace', name: 'shop' }))!.metadata.uid!
}
