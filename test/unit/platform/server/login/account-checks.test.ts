import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { type Cluster, ClusterError } from '../../../../../adapters/kubernetes/cluster.ts'
import { fromStanding } from '../../../../../platform/records/standing.ts'
import { userId } from '../../../../../platform/rules/names.ts'
import type { ServerContext } from '../../../../../platform/server/context.ts'
import type { Services } from '../../../../../platform/server/create-services.ts'
import { accountCheckTask } from '../../../../../platform/server/login/account-checks.ts'
import { completeLogin } from '../../../../../platform/server/login/browser-login.ts'
import { Tokens } from '../../../../../platform/server/login/tokens.ts'
import { Users } from '../../../../../platform/server/login/users.ts'
import { interrupted } from '../../../../support/memory-cluster/interrupted.ts'
import { MemoryCluster } from '../../../../support/memory-cluster/memory-cluster.ts'

test('a check that fails for one user does not delay those of others, and is logged', async () => {
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
  } as unknown as ServerContext
  const users = {
    find: async (id: string) => {
      if (id === ids[0]) throw new ClusterError('conflict', 'somebody else was faster')
      return { id }
    },
    change: async (id: string) => void asked.push(id),
  }
  const providers = new Map([['oidc', { ask: async () => ({ refreshToken: 'next' }) }]])
  const parts = { users, providers, tokens: {} } as unknown as Parameters<typeof accountCheckTask>[1]
  await accountCheckTask(world, parts).run(AbortSignal.timeout(5000))
  expect(asked.sort()).toEqual(ids.slice(1))
  expect(log).toEqual([`asking oidc about ${ids[0]}: somebody else was faster`])
})

const HOUR = 3_600_000
const identity = { issuer: 'https://issuer.example.com', subject: '1', login: 'ann' }
const ann = userId(identity.issuer, identity.subject)

/** A platform whose provider takes only the newest refresh token, and refuses an account without one. */
function open() {
  const cluster = new MemoryCluster({ namespaces: ['devctl-users'] })
  let now = Date.UTC(2026, 0, 1)
  let logins = 0
  let current = ''
  const provider = {
    ask: async (token: string) => (token === current ? { refreshToken: token } : undefined),
  }
  /** The parts of a replica, by its client of the cluster. */
  const partsOf = (own: Cluster) => {
    const world = {
      cluster: own,
      now: () => now,
      random: randomBytes,
      sealing: { seal: (text: string) => text, open: (text: string) => text },
      log: ({ text }: { readonly text: string }) => expect.fail(text),
      audit() {},
    } as unknown as ServerContext
    const users = new Users(world)
    const personal = { ensure: async (user: unknown) => user }
    const providers = new Map([['oidc', provider]])
    const parts = { users, tokens: new Tokens(world), personal, providers }
    return { world, parts: parts as unknown as Pick<Services, keyof typeof parts> }
  }
  const { parts } = partsOf(cluster)
  return {
    cluster,
    parts,
    later: () => {
      now += HOUR + 1000
    },
    leave: () => {
      current = ''
    },
    logIn: async (own: Cluster = cluster, hasToken = true) => {
      const refreshToken = `refresh-${++logins}`
      if (hasToken) current = refreshToken
      const there = partsOf(own)
      return completeLogin(there.world, there.parts, 'oidc', { identity, ...(hasToken && { refreshToken }) })
    },
    ask: async (own: Cluster = cluster) => {
      const there = partsOf(own)
      await accountCheckTask(there.world, there.parts).run(AbortSignal.timeout(5000))
    },
  }
}

test('a login at any step of a check is not undone by it', async () => {
  for (let at = 1; ; at++) {
    const { cluster, parts, later, leave, logIn, ask } = open()
    await logIn()
    const program = await parts.tokens.issue({ kind: 'api', label: 'ci', user: ann })
    leave()
    later()
    let session = ''
    const { client, isOver } = interrupted(cluster, at, async () => {
      session = (await logIn()).session
    })
    await ask(client)
    if (isOver()) {
      expect(at).toBeGreaterThan(8)
      expect((await parts.users.find(ann))?.isRefused).toBe(true)
      return
    }
    expect((await parts.users.find(ann))?.isRefused, `step ${at}`).toBeUndefined()
    for (const text of [session, program.text]) expect(await parts.tokens.check(text), `step ${at}`).toBeDefined()
    later()
    await ask()
    expect((await parts.users.find(ann))?.isRefused, `the next check after step ${at}`).toBeUndefined()
  }
})

test('a check at any step of a login does not undo it', async () => {
  for (let at = 1; ; at++) {
    const { cluster, parts, later, leave, logIn, ask } = open()
    await logIn()
    leave()
    later()
    const { client, isOver } = interrupted(cluster, at, ask)
    const { session } = await logIn(client)
    if (isOver()) {
      expect(at).toBeGreaterThan(3)
      return
    }
    expect((await parts.users.find(ann))?.isRefused, `step ${at}`).toBeUndefined()
    expect(await parts.tokens.check(session), `step ${at}`).toBeDefined()
  }
})

test('a login without a refresh token does not end the checks of a user who had one', async () => {
  const { cluster, parts, later, leave, logIn, ask } = open()
  await logIn()
  await expect(logIn(cluster, false)).rejects.toMatchObject({ problem: 'no-refresh' })
  leave()
  later()
  await ask()
  expect((await parts.users.find(ann))?.isRefused).toBe(true)
  // Their provider now issues no refresh tokens at all: nothing of the earlier login remains.
  await logIn(cluster, false)
  expect((await parts.users.find(ann))?.isRefused).toBeUndefined()
})
