import { expect, test } from 'vitest'
import type { ManagedNamespace } from '../../../platform/records/namespace.ts'
import { fromRun, jobRef, LIVE_LABEL, STOP, type WantedRun } from '../../../platform/records/run.ts'
import { makeUlid } from '../../../platform/rules/ulid.ts'
import type { ServerContext } from '../../../platform/server/context.ts'
import type { Namespaces } from '../../../platform/server/namespaces/namespaces.ts'
import type { SharedNamespace } from '../../../platform/server/namespaces/shared-namespace.ts'
import { Previews } from '../../../platform/server/previews/previews.ts'
import { RunController } from '../../../platform/server/runs/run-controller.ts'
import { Runs } from '../../../platform/server/runs/runs.ts'
import { MemoryCluster } from '../../support/memory-cluster/memory-cluster.ts'

// All runs of a platform together are large, so no code reads them at once.

const user = { id: 'a'.repeat(16) } as Parameters<Runs['visible']>[0]

/** A cluster with a namespace, in which no list of Jobs is read other than page by page. */
async function platform() {
  const cluster = new MemoryCluster({ namespaces: ['devctl-runs'] })
  cluster.register({ apiVersion: 'batch/v1', kind: 'Job', name: 'jobs', namespaced: true, hasStatus: true })
  const { metadata } = await cluster.create({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'shop', labels: { 'dev.platform/managed': 'true' } },
  })
  const list = cluster.list.bind(cluster)
  cluster.list = (query, options) => {
    if (query.kind === 'Job') throw new Error('all Jobs at once')
    return list(query, options)
  }
  cluster.pages = async function* (query, options) {
    for (const one of await list(query, options)) yield [one]
  }
  const world = {
    cluster,
    settings: { runs: { perUser: 3, inAll: 10, deadline: 3600 } },
    now: () => 100_000,
    log: ({ text }: { readonly text: string }) => {
      throw new Error(text)
    },
  } as unknown as ServerContext
  const preview = { repository: 'https://git.example.com/team/shop', labels: [] }
  const namespace = { name: 'shop', created: '2000-01-01T00:00:00Z', status: 'Active', preview } as unknown
  const shared: SharedNamespace = { namespace: namespace as ManagedNamespace, members: [] }
  const namespaces = { visible: async () => [shared], require: async () => shared }
  const runs = new Runs(world, namespaces as unknown as Namespaces)
  const previews = new Previews(world, { namespaces, runs } as unknown as ConstructorParameters<typeof Previews>[1])
  const keeper = new RunController(world, { runs } as unknown as ConstructorParameters<typeof RunController>[1])

  /** Creates a completed run. */
  async function add(age: number, more: Partial<WantedRun> & { readonly why?: string } = {}) {
    const { why = 'cancelled', ...wanted } = more
    const id = makeUlid(1_000_000 - age, new Uint8Array(10))
    const namespaceUid = metadata.uid!
    const of = { namespace: 'shop', namespaceUid, environment: 'web', action: 'deploy', user: user.id } as const
    const { metadata: made, ...rest } = fromRun({ id, ...of, repository: preview.repository, ...wanted }, {})
    const { [LIVE_LABEL]: _, ...labels } = made.labels!
    const annotations = { ...made.annotations, [STOP]: JSON.stringify({ why, time: '2026-01-01T00:00:00Z' }) }
    await cluster.create({ ...rest, metadata: { ...made, labels, annotations } })
    return id
  }
  return { cluster, runs, previews, keeper, add }
}

test('a list of runs has only those that the caller may see, the newest first', async () => {
  const { runs, add } = await platform()
  const [old, young] = [await add(9), await add(1)]
  await add(3, { namespace: 'other' })
  for (const query of [{}, { namespace: 'shop' }])
    expect((await runs.visible(user, query)).map(({ id }) => id)).toEqual([young, old])
})

test('a list of runs can be limited to the newest', async () => {
  const { runs, add } = await platform()
  const ids: string[] = []
  for (const age of [7, 2, 9, 1, 5, 3, 8, 4, 6]) ids[age] = await add(age)
  for (const last of [1, 3, 20])
    expect((await runs.visible(user, { last })).map(({ id }) => id)).toEqual(ids.slice(1, last + 1))
})

test('a list of previews has the last run of each, and the one that determines its status', async () => {
  const { previews, add } = await platform()
  await add(9)
  const telling = await add(8)
  await add(7, { action: 'destroy' })
  await add(6, { why: 'replaced' })
  const last = await add(5, { why: 'replaced' })
  const [found] = await previews.visible({ user, token: { kind: 'session' } } as Parameters<Previews['visible']>[0])
  expect(found?.runs.map(({ id }) => id)).toEqual([last, telling])
})

test('the history keeps the newest runs, and none of a deleted namespace', async () => {
  const { cluster, keeper, add } = await platform()
  const ids: string[] = []
  for (let age = 12; age > 0; age--) ids.push(await add(age))
  const gone = await add(20, { namespaceUid: 'gone', environment: 'other' })
  const kept = await add(30, { environment: 'third' })
  await keeper.run(AbortSignal.timeout(60_000))
  const left = await Promise.all([...ids, gone, kept].map(async id => (await cluster.get(jobRef(id))) !== undefined))
  expect(left).toEqual([false, false, ...Array(10).fill(true), false, true])
})
