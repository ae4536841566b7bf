import { expect, test } from 'vitest'
import { searchHandlers } from '../../../../platform/server/handlers/search.ts'
import { PlatformError } from '../../../../platform/server/http/platform-error.ts'

// `GET /search` returns the names that the pages search, also for callers who see many namespaces.

const caller = (id: string, role = 'developer') => ({ user: { id, role }, token: { id: `t-${id}` } })

/** A platform whose namespaces belong to ann; the last number of a name is when it was used last. */
function open(names: readonly string[], more: { readonly isGlobal?: boolean } = {}) {
  const state = { busy: 0, most: 0, read: [] as string[], failures: new Map<string, Error>() }
  const visible = names.map(name => ({
    namespace: {
      name,
      owner: 'ann',
      lastActive: new Date(Number(/\d+$/.exec(name)?.[0] ?? 0)).toISOString(),
      ...more,
    },
    members: [{ namespace: name, user: 'ann', role: 'owner' }],
  }))
  const parts = {
    namespaces: { visible: async () => visible },
    users: { byId: async () => new Map([['ann', { id: 'ann', login: 'ann' }]]) },
    live: {
      environmentNames: async (_: unknown, name: string) => {
        state.read.push(name)
        state.most = Math.max(state.most, ++state.busy)
        await new Promise(resolve => setImmediate(resolve))
        state.busy--
        const failure = state.failures.get(name)
        if (failure) throw failure
        return [{ name: 'shop', services: ['web'] }]
      },
    },
  } as unknown as Parameters<typeof searchHandlers>[0]
  const handle = searchHandlers(parts)['GET /search']
  const ask = (by: object) => handle({ by } as Parameters<typeof handle>[0])
  return { state, ask }
}
const many = (count: number) => Array.from({ length: count }, (_, at) => `ns-${at}`)

test('each namespace has its environments, services and members, in alphabetical order', async () => {
  const { ask } = open(['b', 'a'])
  const members = [{ user: { id: 'ann', login: 'ann' }, role: 'owner' }]
  const environments = [{ name: 'shop', services: ['web'] }]
  expect(await ask(caller('ann'))).toEqual({
    items: [
      { namespace: 'a', environments, members },
      { namespace: 'b', environments, members },
    ],
  })
})

test('an administrator who is no member sees only members, and no environment is read', async () => {
  const { state, ask } = open(['a'])
  expect(await ask(caller('root', 'admin'))).toMatchObject({
    items: [{ environments: [], members: [{ role: 'owner' }] }],
  })
  expect(state.read).toEqual([])
})

test('a namespace that cannot be read is counted as unread, but not a deleted one', async () => {
  const { state, ask } = open(['a', 'b', 'c'])
  state.failures.set('a', new Error('the cluster does not answer'))
  state.failures.set('b', new PlatformError(404, 'no-namespace', 'gone'))
  expect(await ask(caller('ann'))).toMatchObject({
    items: [{ environments: [] }, { environments: [] }, { environments: [{ name: 'shop' }] }],
    unread: 1,
  })
})

test('only the most recently used of hundreds of namespaces are read, a few at a time', async () => {
  const { state, ask } = open(many(600))
  const { items, unread } = await ask(caller('ann'))
  expect([items.length, unread]).toEqual([600, 100])
  expect(state.most).toBeLessThanOrEqual(6)
  expect(state.read).toHaveLength(500)
  expect(state.read).toContain('ns-599')
  expect(state.read).not.toContain('ns-99')
})

test('concurrent requests of one caller share the reads, and those of another do not', async () => {
  const { state, ask } = open(many(10), { isGlobal: true })
  const [one, other] = await Promise.all([ask(caller('ann')), ask(caller('ann'))])
  expect(other).toBe(one)
  expect(state.read).toHaveLength(10)
  await Promise.all([ask(caller('ann')), ask(caller('bob'))])
  expect(state.read).toHaveLength(30)
})
