import { expect, test } from 'vitest'
import { ClusterError } from '../../../../adapters/kubernetes/cluster.ts'
import { fromStanding } from '../../../../platform/records/standing.ts'
import type { PlatformParts } from '../../../../platform/server/make-parts.ts'
import { standingTask } from '../../../../platform/server/standings.ts'
import type { PlatformWorld } from '../../../../platform/server/world.ts'
import { MemoryCluster } from '../../../support/memory-cluster/memory-cluster.ts'

test('who cannot be asked about holds up nobody after them, and the log says so', async () => {
  const cluster = new MemoryCluster({ namespaces: ['devctl-users'] })
  const ids = ['a', 'b', 'c', 'd', 'e', 'f'].map(letter => letter.repeat(16))
  for (const user of ids)
    await cluster.create(fromStanding({ user, provider: 'oidc', sealed: 'x', asked: '2026-01-01T00:00:00Z' }))
  const log: string[] = []
  const asked: string[] = []
  const world = {
    cluster,
    now: () => Date.parse('2026-01-02T00:00:00Z'),
    sealing: { seal: (text: string) => text, open: (text: string) => text },
    log: ({ text }: { readonly text: string }) => log.push(text),
  } as unknown as PlatformWorld
  const users = {
    find: async (id: string) => {
      if (id === ids[0]) throw new ClusterError('conflict', 'somebody else was faster')
      return { id }
    },
    change: async (id: string) => void asked.push(id),
  }
  const providers = new Map([['oidc', { ask: async () => ({ refreshToken: 'next' }) }]])
  const parts = { users, providers, tokens: {} } as unknown as PlatformParts
  await standingTask(world, parts).run(AbortSignal.timeout(5000))
  expect(asked.sort()).toEqual(ids.slice(1))
  expect(log).toEqual([`asking oidc about ${ids[0]}: somebody else was faster`])
})
