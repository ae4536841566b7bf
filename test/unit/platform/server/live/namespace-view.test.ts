import { gzipSync } from 'node:zlib'
import { afterEach, expect, test, vi } from 'vitest'
import type { KubeObject } from '../../../../../adapters/kubernetes/cluster.ts'
import { withChangeList } from '../../../../../environment/record/change-lists.ts'
import { SharedBudget } from '../../../../../platform/rules/shared-budget.ts'
import { NamespaceView } from '../../../../../platform/server/live/namespace-view.ts'
import { MemoryCluster } from '../../../../support/memory-cluster/memory-cluster.ts'

/** Timeout in milliseconds that is enough on a busy machine. */
const LONG = { timeout: 15_000 }
const AT = '2026-01-01T00:00:00Z'
const open = new Set<NamespaceView>()
afterEach(() => {
  for (const view of open) view.end(new Error('over'))
  open.clear()
})

const roomIn = (budget: SharedBudget) => ({
  take: (size: number) => budget.take('eve', size),
  give: (size: number) => budget.give('eve', size),
})
const large = () => new SharedBudget(32 * 1024 * 1024)

function viewOf(cluster: MemoryCluster, budget = large(), sending = large()): NamespaceView {
  const view = new NamespaceView(cluster, 'ns', {
    now: Date.now,
    isAsleep: () => false,
    ...roomIn(budget),
    sending: roomIn(sending),
    explain: task => task(),
  })
  open.add(view)
  return view
}

const record = (environment: string, history: string, data: Readonly<Record<string, string>> = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: `devctl-${environment}`, namespace: 'ns', labels: { 'dev.platform/environment': environment } },
  data,
  binaryData: { history },
})

/** A history of a few KiB that unpacks to almost 1 MiB, with many more values than a deploy writes. */
function largeHistory(): string {
  const values = Array.from({ length: 5000 }, () => ({ path: '' }))
  const changes = Array.from({ length: 17 }, () => ({ action: 'create', object: '', values }))
  return gzipSync(JSON.stringify([{ number: 3, by: 'eve', at: AT, changes }]), { level: 9 }).toString('base64')
}

test('the state of environments has no histories, and one history is read within limits', async () => {
  const cluster = new MemoryCluster({ namespace: 'ns' })
  const history = largeHistory()
  for (let index = 0; index < 20; index++) await cluster.create(record(`e${index}`, history))
  const budget = large()
  const view = viewOf(cluster, budget)
  const all = await view.environments()
  expect(all).toHaveLength(20)
  expect(all[0]?.deployed).toEqual({ number: 3, by: 'eve', at: AT })
  expect(JSON.stringify(all).length).toBeLessThan(10_000)
  expect(budget.taken).toBeLessThan(20 * 2 * history.length)
  const [list] = (await view.history('e7')) ?? []
  expect(list?.changes.flatMap(({ values }) => values)).toHaveLength(17 * 50)
  expect(await view.history('missing')).toBeUndefined()
  view.end(new Error('over'))
  await vi.waitFor(() => expect(budget.taken).toBe(0), { timeout: 15_000 })
})

test('reading environments leaves turns for other work of the server', async () => {
  const cluster = new MemoryCluster({ namespace: 'ns' })
  for (let index = 0; index < 10; index++) await cluster.create(record(`e${index}`, largeHistory()))
  const view = viewOf(cluster)
  let turns = 0
  let isOver = false
  const turn = () => {
    turns++
    if (!isOver) setImmediate(turn)
  }
  turn()
  await view.environments()
  isOver = true
  expect(turns).toBeGreaterThan(10)
})

/** A record whose environment has a service with an image name of some characters. */
const sized = (environment: string, characters: number) =>
  record(environment, '', {
    application: JSON.stringify({ services: [{ service: 'web', kind: 'Deployment', image: 'x'.repeat(characters) }] }),
  })

test('a client that does not read gets the present state later, and not each change', async () => {
  const cluster = new MemoryCluster({ namespace: 'ns' })
  const history = (number: number) => withChangeList(undefined, { by: `deploy-${number}`, at: AT, changes: [] })
  await cluster.create(record('shop', history(0)))
  await cluster.create(record('other', history(0)))
  const view = viewOf(cluster)
  const end = new AbortController()
  const events = view.follow(end.signal)
  expect((await events.next()).value).toMatchObject({ type: 'snapshot', environments: [{}, {}] })
  for (let number = 1; number <= 5; number++) {
    await cluster.apply(record('shop', history(number)), { manager: 'eve', force: true })
    await vi.waitFor(async () => {
      expect((await view.environment('shop'))?.deployed?.by).toBe(`deploy-${number}`)
    }, LONG)
  }
  await cluster.delete({ apiVersion: 'v1', kind: 'ConfigMap', name: 'devctl-other', namespace: 'ns' })
  await vi.waitFor(async () => expect(await view.environments()).toHaveLength(1), LONG)
  const next = [await events.next(), await events.next()].map(({ value }) => value)
  expect(next).toMatchObject([
    { type: 'environment', environment: { name: 'shop', deployed: { by: 'deploy-5' } } },
    { type: 'removed', environment: 'other' },
  ])
  end.abort()
})

test('a client that misses changes of too many environments gets the whole state again', async () => {
  const cluster = new MemoryCluster({ namespace: 'ns' })
  const view = viewOf(cluster)
  const events = view.follow(new AbortController().signal)
  await events.next()
  for (let round = 0; round < 2; round++) {
    for (let index = 0; index < 150; index++) await cluster.create(record(`e${round}-${index}`, ''))
    await vi.waitFor(async () => expect(await view.environments()).toHaveLength(150), LONG)
    if (round > 0) break
    for (let index = 0; index < 150; index++)
      await cluster.delete({ apiVersion: 'v1', kind: 'ConfigMap', name: `devctl-e0-${index}`, namespace: 'ns' })
    await vi.waitFor(async () => expect(await view.environments()).toHaveLength(0), LONG)
  }
  expect((await events.next()).value).toMatchObject({ type: 'snapshot' })
})

test('a large state is sent in several events', async () => {
  const cluster = new MemoryCluster({ namespace: 'ns' })
  for (const name of ['a', 'b', 'c']) await cluster.create(sized(name, 90_000))
  const events = viewOf(cluster).follow(new AbortController().signal)
  expect((await events.next()).value).toMatchObject({
    type: 'snapshot',
    environments: [{ name: 'a' }, { name: 'b' }],
  })
  expect((await events.next()).value).toMatchObject({ type: 'environment', environment: { name: 'c' } })
})

test('an event that was not received counts in a budget, and others wait for room in it', async () => {
  const cluster = new MemoryCluster({ namespace: 'ns' })
  await cluster.create(sized('shop', 10_000))
  // One user gets half of the budget.
  const sending = new SharedBudget(2 * 4 * 10_000)
  const view = viewOf(cluster, large(), sending)
  const first = view.follow(new AbortController().signal)
  await first.next()
  expect(sending.taken).toBeGreaterThan(3 * 10_000)
  let isFirstSent = false
  const second = view.follow(new AbortController().signal)
  const came = second.next().then(({ value }) => ({ isFirstSent, value }))
  await vi.waitFor(async () => expect(await view.environments()).toHaveLength(1), LONG)
  isFirstSent = true
  await first.return(undefined)
  expect(await came).toMatchObject({ isFirstSent: true, value: { type: 'snapshot' } })
  await second.return(undefined)
  expect(sending.taken).toBe(0)
})

test('a run of a job reaches clients, with the schedule of its CronJob', async () => {
  const cluster = new MemoryCluster({ namespace: 'ns' })
  const labels = { 'dev.platform/environment': 'shop', 'dev.platform/service': 'backup' }
  const made = await cluster.create({
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: { name: 'backup', namespace: 'ns', labels },
    spec: { schedule: '30 3 * * *', timeZone: 'Europe/Berlin', jobTemplate: { spec: { template: {} } } },
  })
  const events = viewOf(cluster).follow(new AbortController().signal)
  const schedules = [{ cron: '30 3 * * *', timeZone: 'Europe/Berlin' }]
  expect((await events.next()).value).toMatchObject({
    type: 'snapshot',
    environments: [{ name: 'shop', state: 'ready', services: [], jobs: [{ name: 'backup', schedules }] }],
  })
  const owner = { apiVersion: 'batch/v1', kind: 'CronJob', name: 'backup', uid: made.metadata.uid ?? '' }
  await cluster.create({
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'backup-1', namespace: 'ns', labels, ownerReferences: [owner] },
    spec: { template: {} },
  })
  expect((await events.next()).value).toMatchObject({
    type: 'environment',
    environment: { jobs: [{ name: 'backup', lastRun: { state: 'waiting' } }] },
  })
})
