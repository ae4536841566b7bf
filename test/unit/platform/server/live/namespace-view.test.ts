import { gzipSync } from 'node:zlib'
import { afterEach, expect, test, vi } from 'vitest'
import type { KubeObject } from '../../../../../adapters/kubernetes/cluster.ts'
import { SharedBudget } from '../../../../../platform/rules/shared-budget.ts'
import { NamespaceView } from '../../../../../platform/server/live/namespace-view.ts'
import { MemoryCluster } from '../../../../support/memory-cluster/memory-cluster.ts'

const AT = '2026-01-01T00:00:00Z'
const open = new Set<NamespaceView>()
afterEach(() => {
  for (const view of open) view.end(new Error('over'))
  open.clear()
})

function viewOf(cluster: MemoryCluster, budget = new SharedBudget(32 * 1024 * 1024)): NamespaceView {
  const view = new NamespaceView(cluster, 'ns', {
    now: Date.now,
    isAsleep: () => false,
    take: size => budget.take('eve', size),
    give: size => budget.give('eve', size),
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

test('the state of many environments has no histories, and the history of one is read within limits', async () => {
  const cluster = new MemoryCluster({ namespace: 'ns' })
  const history = largeHistory()
  for (let index = 0; index < 20; index++) await cluster.create(record(`e${index}`, history))
  const budget = new SharedBudget(32 * 1024 * 1024)
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

test('between the environments of a namespace the server does other work', async () => {
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
