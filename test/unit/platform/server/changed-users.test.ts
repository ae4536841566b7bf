import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import type { Cluster } from '../../../../adapters/kubernetes/cluster.ts'
import type { PlatformUser } from '../../../../platform/records/user.ts'
import type { ServerContext } from '../../../../platform/server/context.ts'
import { userHandlers } from '../../../../platform/server/handlers/users.ts'
import { Tokens } from '../../../../platform/server/login/tokens.ts'
import { Users } from '../../../../platform/server/login/users.ts'
import { interrupted } from '../../../support/memory-cluster/interrupted.ts'
import { MemoryCluster } from '../../../support/memory-cluster/memory-cluster.ts'

// Administrators change other users, also at the same time.

async function open() {
  const cluster = new MemoryCluster({ namespaces: ['devctl-users'] })
  const partsOf = (own: Cluster) => {
    const world = { cluster: own, now: Date.now, random: randomBytes } as unknown as ServerContext
    return { world, users: new Users(world), tokens: new Tokens(world) }
  }
  const { users, tokens } = partsOf(cluster)
  const person = async (login: string, role?: 'admin') => {
    const user = await users.loggedIn({ issuer: 'https://issuer.example.com', subject: login, login }, role)
    const { record: token } = await tokens.issue({ kind: 'cli', label: 'x', user: user.id })
    return { user, token }
  }
  const change = (
    by: Awaited<ReturnType<typeof person>>,
    { id }: PlatformUser,
    body: object,
    own: Cluster = cluster,
  ): Promise<unknown> => {
    const parts = partsOf(own)
    const call = { params: { user: id }, body, by, note() {} } as never
    return userHandlers(parts.world, parts)['PATCH /admin/users/:user'](call)
  }
  const isAdmin = async ({ id }: PlatformUser) => {
    const { role, isSuspended } = await users.known(id)
    return role === 'admin' && !isSuspended
  }
  return { cluster, users, tokens, person, change, isAdmin }
}

test.each([
  ['demote', { role: 'developer' }],
  ['suspend', { isSuspended: true }],
])('one of two administrators who %s each other at the same time remains', async (_, body) => {
  for (let at = 1; ; at++) {
    const { cluster, person, change, isAdmin } = await open()
    const [ann, bob] = [await person('ann', 'admin'), await person('bob', 'admin')]
    const other: Promise<unknown>[] = []
    const { client, isOver } = interrupted(cluster, at, async () => {
      other.push(change(bob, ann.user, body))
      await Promise.allSettled(other)
    })
    await Promise.allSettled([change(ann, bob.user, body, client)])
    if (isOver()) {
      expect(at).toBeGreaterThan(4)
      break
    }
    expect(await Promise.all([isAdmin(ann.user), isAdmin(bob.user)]), `step ${at}`).toContain(true)
  }
  const { person, change, isAdmin } = await open()
  const [ann, bob] = [await person('ann', 'admin'), await person('bob', 'admin')]
  await Promise.allSettled([change(ann, bob.user, body), change(bob, ann.user, body)])
  expect(await Promise.all([isAdmin(ann.user), isAdmin(bob.user)])).toContain(true)
})

test('a token that was issued during a suspension is not valid after it', async () => {
  const { tokens, person, change } = await open()
  const [ann, bob] = [await person('ann', 'admin'), await person('bob')]
  await change(ann, bob.user, { isSuspended: true })
  // A request that began before the suspension issues a token.
  const { text } = await tokens.issue({ kind: 'api', label: 'late', user: bob.user.id })
  await change(ann, bob.user, { isSuspended: false })
  expect(await tokens.check(text)).toBeUndefined()
})
