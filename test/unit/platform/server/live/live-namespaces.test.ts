import { expect, test } from 'vitest'
import type { ServerContext } from '../../../../../platform/server/context.ts'
import type { Accounts, Identified } from '../../../../../platform/server/http/caller.ts'
import type { PlatformError } from '../../../../../platform/server/http/platform-error.ts'
import type { UserClusters } from '../../../../../platform/server/http/user-clusters.ts'
import { LiveNamespaces } from '../../../../../platform/server/live/live-namespaces.ts'
import { MemoryCluster } from '../../../../support/memory-cluster/memory-cluster.ts'

test('a caller with too many streams gets an error instead of an empty stream', async () => {
  const cluster = new MemoryCluster({ namespace: 'ns' })
  const world = { now: Date.now } as ServerContext
  const live = new LiveNamespaces(world, { of: () => cluster } as unknown as UserClusters, {} as Accounts, {
    find: () => undefined,
  })
  const by = { user: { id: 'u-1' }, token: { id: 't' } } as Identified
  const end = new AbortController()
  const open = () => live.follow(by, 'ns', end.signal)
  const begun = Array.from({ length: 99 }, () => open().next())
  const [last, late] = [open(), open()]
  begun.push(last.next())
  expect(open).toThrow('you already have 100 streams open')
  await expect(late.next()).rejects.toThrow('you already have 100 streams open')
  expect(() => live.follow({ ...by, user: { ...by.user, id: 'u-2' } }, 'ns', end.signal)).not.toThrow()
  end.abort()
  await Promise.all(begun)
  live.close()
})

test('logs have separate limits for each user and for all users', async () => {
  const cluster = new MemoryCluster({ namespace: 'ns' })
  const world = { now: Date.now } as ServerContext
  const live = new LiveNamespaces(world, { of: () => cluster } as unknown as UserClusters, {} as Accounts, {
    find: () => undefined,
  })
  const end = new AbortController()
  const wanted = { namespace: 'ns', environment: undefined, service: undefined, tail: 1, after: undefined }
  const open = (who: number) =>
    live.logs({ user: { id: `u-${who}` }, token: { id: `t-${who}` } } as Identified, wanted, end.signal)
  const begun: Promise<unknown>[] = []
  const most = (who: number) => {
    for (let count = 0; ; count++) {
      try {
        begun.push(open(who).next())
      } catch (error) {
        return { count, error: error as PlatformError }
      }
    }
  }
  const first = most(0)
  expect(first.count).toBe(8)
  // Clients repeat a request that gets 503, but waiting does not help here.
  expect(first.error).toMatchObject({
    status: 429,
    body: {
      code: 'platform/busy',
      message: 'you already have 8 logs open',
      hint: 'close some pages, or stop commands that follow logs',
    },
  })
  let all = first.count
  for (let who = 1; who < 12; who++) all += most(who).count
  expect(all + most(12).count).toBe(100)
  expect(most(13).error).toMatchObject({ status: 503, message: '100 logs are already open' })
  end.abort()
  await Promise.all(begun)
  expect(most(0).count).toBe(8)
  live.close()
})

test('a user who watches too many namespaces is told so at once', () => {
  const cluster = new MemoryCluster({ namespace: 'ns' })
  const world = { now: Date.now } as ServerContext
  const live = new LiveNamespaces(world, { of: () => cluster } as unknown as UserClusters, {} as Accounts, {
    find: () => undefined,
  })
  const end = new AbortController()
  const enter = (who: string, at: number) =>
    live.enter({ user: { id: who }, token: { id: who } } as Identified, `ns-${at}`, end.signal)
  for (let at = 0; at < 30; at++) enter('u-1', at)
  expect(() => enter('u-1', 30)).toThrow(
    expect.objectContaining({ status: 429, message: 'you are already watching 30 namespaces' }),
  )
  expect(() => enter('u-2', 30)).not.toThrow()
  end.abort()
  live.close()
})
