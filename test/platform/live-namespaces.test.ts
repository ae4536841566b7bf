import { expect, test } from 'vitest'
import type { Identified } from '../../platform/server/caller.ts'
import { LiveNamespaces } from '../../platform/server/live/live-namespaces.ts'
import type { Tokens } from '../../platform/server/tokens.ts'
import type { UserClusters } from '../../platform/server/user-clusters.ts'
import type { PlatformWorld } from '../../platform/server/world.ts'
import { MemoryCluster } from '../memory-cluster/memory-cluster.ts'

test('who looks at too many streams gets an answer, not an empty stream', async () => {
  const cluster = new MemoryCluster({ namespace: 'ns' })
  const world = { now: Date.now } as PlatformWorld
  const live = new LiveNamespaces(world, { of: () => cluster } as unknown as UserClusters, {} as Tokens)
  const by = { user: { id: 'u-1' }, token: { id: 't' } } as Identified
  const end = new AbortController()
  const open = () => live.follow(by, 'ns', end.signal)
  const begun = Array.from({ length: 99 }, () => open().next())
  const [last, late] = [open(), open()]
  begun.push(last.next())
  expect(open).toThrow('you look at 100 streams already')
  await expect(late.next()).rejects.toThrow('you look at 100 streams already')
  expect(() => live.follow({ ...by, user: { ...by.user, id: 'u-2' } }, 'ns', end.signal)).not.toThrow()
  end.abort()
  await Promise.all(begun)
  live.close()
})
