import { expect, test } from 'vitest'
import type { Cluster } from '../../../../../adapters/kubernetes/cluster.ts'
import type { ServerContext } from '../../../../../platform/server/context.ts'
import { Users } from '../../../../../platform/server/login/users.ts'
import { MemoryCluster } from '../../../../support/memory-cluster/memory-cluster.ts'

// Two replicas change the same user, the second one between what the first one reads and writes.

const ann = { issuer: 'https://issuer.example.com', subject: '1', login: 'ann', email: 'ann@example.com' }

function usersOf(between: () => Promise<unknown> = async () => {}) {
  const cluster = new MemoryCluster({ namespaces: ['devctl-users'] })
  const writes: string[] = []
  let isBetween = true
  const watched = new Proxy(cluster, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key, target)
      if (typeof value !== 'function') return value
      if (key !== 'patch' && key !== 'create' && key !== 'apply') return value.bind(target)
      return async (...args: unknown[]) => {
        writes.push(key)
        if (isBetween) {
          isBetween = false
          await between()
        }
        return Reflect.apply(value, target, args)
      }
    },
  })
  const worldOf = (one: Cluster) => ({ cluster: one, now: Date.now }) as unknown as ServerContext
  return { slow: new Users(worldOf(watched)), fast: new Users(worldOf(cluster)), cluster, writes }
}

test.each([
  ['suspended', { isSuspended: true }],
  ['made a developer', { role: 'developer' }],
  ['made an administrator', { role: 'admin' }],
] as const)('a user who is %s during a login stays so', async (what, change) => {
  const { fast, slow, writes } = usersOf(() => fast.change(id, change))
  const { id } = await fast.loggedIn(ann, what === 'made a developer' ? 'admin' : undefined)
  const seen = await slow.loggedIn({ ...ann, login: 'anne' })
  expect(seen).toMatchObject({ ...change, login: 'anne' })
  expect(await fast.find(id)).toEqual(seen)
  expect(writes).toEqual(['patch', 'patch'])
})

test('a change does not undo what a login has written', async () => {
  const { fast, slow } = usersOf(() => fast.loggedIn({ ...ann, login: 'anne' }))
  const { id } = await fast.loggedIn(ann)
  expect(await slow.change(id, { isSuspended: true })).toMatchObject({ login: 'anne', isSuspended: true })
  expect(await fast.change(id, { isSuspended: false })).not.toHaveProperty('isSuspended')
})

test('two first logins at the same moment create one user', async () => {
  const { fast, slow, cluster } = usersOf(() => fast.loggedIn(ann, 'admin'))
  expect(await slow.loggedIn(ann)).toMatchObject({ login: 'ann', role: 'admin' })
  const query = { apiVersion: 'v1', kind: 'ServiceAccount', namespace: 'devctl-users' }
  expect(await cluster.list(query, {})).toHaveLength(1)
})

test('a login removes what the provider no longer reports, and ends a refusal', async () => {
  const { fast } = usersOf()
  const { id } = await fast.loggedIn(ann)
  await fast.change(id, { isRefused: true, asked: '2026-01-01T00:00:00Z', home: 'ann' })
  const { email: _, ...less } = ann
  const seen = await fast.loggedIn(less)
  expect(seen).toEqual({ ...less, id, role: 'developer', home: 'ann', lastLogin: seen.lastLogin })
})

test('a user who does not exist cannot be changed', async () => {
  const { fast } = usersOf()
  await expect(fast.change('a'.repeat(16), { role: 'admin' })).rejects.toThrow('this user does not exist')
})
