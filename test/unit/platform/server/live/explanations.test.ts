import { expect, test, vi } from 'vitest'
import type { Cluster } from '../../../../../adapters/kubernetes/cluster.ts'
import type { ObservedService } from '../../../../../environment/status/service-status.ts'
import { SharedBudget } from '../../../../../platform/rules/shared-budget.ts'
import { Explanations } from '../../../../../platform/server/live/explanations.ts'

const POD = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web-1', namespace: 'ns' } }
const seen = (service: string): ObservedService =>
  ({
    overview: { service, state: 'failed' },
    workload: { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: service, namespace: 'ns', uid: service } },
    found: {
      status: { state: 'failed', text: 'failed' },
      pods: [],
      problems: [{ code: 'unhealthy', where: 'pod/web-1', detail: 'it fails', pod: POD, container: 'web' }],
      warnings: [],
    },
  }) as unknown as ObservedService // Explanations read nothing else.

test('explanations are kept while the budget has room, and free it when they are forgotten', async () => {
  const line = 'x'.repeat(900)
  async function* logs() {
    for (let count = 0; count < 10; count++) yield `2026-01-01T00:00:00Z ${line}`
  }
  const budget = new SharedBudget(4 * 10_000)
  const changed = vi.fn()
  const all = new Explanations(
    { logs } as unknown as Cluster, // Explanations need nothing else.
    {
      take: size => budget.take('ann', size),
      give: size => budget.give('ann', size),
      explain: task => task(),
    },
    changed,
  )
  const names = ['a', 'b', 'c', 'd']
  for (const name of names) expect(all.of('shop', seen(name), { services: [] })).toEqual([])
  await all.settled('shop')
  expect(changed).toHaveBeenCalledTimes(4)
  const found = names.map(name => all.of('shop', seen(name), { services: [] }))
  expect(found.filter(one => one.length > 0)).toHaveLength(2)
  expect(budget.taken).toBeGreaterThan(2 * 9000)
  all.forget('shop')
  expect(budget.taken).toBe(0)
})
