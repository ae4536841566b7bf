import { expect, test, vi } from 'vitest'
import type { ServerContext } from '../../../../../platform/server/context.ts'
import { lead } from '../../../../../platform/server/leader/leader.ts'
import { TaskFailures } from '../../../../../platform/server/leader/task-failures.ts'
import { MemoryCluster } from '../../../../support/memory-cluster/memory-cluster.ts'

test('a failure of the leader is known until its task succeeds, or it leads no more', async () => {
  const cluster = new MemoryCluster({ namespaces: ['devctl-platform'] })
  cluster.register({
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    name: 'leases',
    namespaced: true,
    hasStatus: false,
  })
  const world = {
    cluster,
    now: Date.now,
    random: (bytes: number) => Buffer.alloc(bytes, 7),
    log: () => {},
  } as unknown as ServerContext
  const failing = new TaskFailures()
  const end = new AbortController()
  let isBroken = true
  const tasks = [
    { name: 'good', everyMs: 5, run: async () => {} },
    {
      name: 'bad',
      everyMs: 5,
      run: async () => {
        if (isBroken) throw new Error('x'.repeat(1000))
      },
    },
    {
      name: 'worse',
      everyMs: 5,
      run: async () => {
        throw new Error('no answer')
      },
    },
  ]
  const leading = lead(world, tasks, end.signal, failing)
  await vi.waitFor(() => expect(failing.all().map(({ task }) => task)).toEqual(['bad', 'worse']), 15_000)
  expect(failing.all()[0]?.message).toHaveLength(300)
  isBroken = false
  await vi.waitFor(() => expect(failing.all().map(({ task }) => task)).toEqual(['worse']), 15_000)
  await vi.waitFor(() => expect(failing.all()[0]?.times).toBeGreaterThan(1), 15_000)
  end.abort()
  await leading
  expect(failing.all()).toEqual([])
})
