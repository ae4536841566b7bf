import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { type Cluster, ClusterError } from '../../../../../adapters/kubernetes/cluster.ts'
import { fromStanding } from '../../../../../platform/records/standing.ts'
import { userId } from '../../../../../platform/rules/names.ts'
import type { ServerContext } from '../../../../../platform/server/context.ts'
import type { Services } from '../../../../../platform/server/create-services.ts'
import { accountCheckTask } from '../../../../../platform/server/login/account-checks.ts'
import { completeLogin } from '../../../../../platform/server/login/browser-login.ts'
import type { Asking } from '../../../../../platform/server/login/providers/provider.ts'
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
  const providers = new Map([['oidc', { ask: async () => true }]])
  const parts = { users, providers, tokens: {} } as unknown as Parameters<typeof accountCheckTask>[1]
  await accountCheckTask(world, parts).run(AbortSignal.timeout(5000))
  expect(asked.sort()).toEqual(ids.slice(1))
  expect(log).toEqual([`asking oidc about ${ids[0]}: somebody else was faster`])
})

const HOUR = 3_600_000
const identity = { issuer: 'https://issuer.example.com', subject: '1', login: 'ann' }
const ann = userId(identity.issuer, identity.subject)

/** A platform whose provider takes each refresh token once, and refuses an account without one. */
function open() {
  const cluster = new MemoryCluster({ namespaces: ['devctl-users'] })
  let now = Date.UTC(2026, 0, 1)
  let logins = 0
  let current = ''
  let answer = true
  let slow = async () => {}
  const provider = {
    ask: async (token: string, _: string, asking: Asking): Promise<boolean> => {
      if (token !== current) return false
      current = `${token}+`
      await asking.renewed(current)
      await slow()
      return answer
    },
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
    ask: async (own: Cluster = cluster, signal = AbortSignal.timeout(5000), settling = 0) => {
      const there = partsOf(own)
      await accountCheckTask(there.world, there.parts, settling).run(signal)
    },
    /** Sets the work of the provider after it has issued a refresh token, and its answer about the account. */
    after: (work: () => Promise<void>, isKnown = true) => {
      slow = work
      answer = isKnown
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

const isRefused = async ({ users }: Pick<Services, 'users'>) => (await users.find(ann))?.isRefused === true

test('a check whose replica stops after the grant is repeated with the next refresh token', async () => {
  const { parts, later, logIn, ask, after } = open()
  await logIn()
  later()
  const lead = new AbortController()
  after(async () => {
    lead.abort()
    throw new Error('the process has ended')
  })
  await expect(ask(undefined, lead.signal)).rejects.toThrow()
  after(async () => {})
  await ask()
  expect(await isRefused(parts)).toBe(false)
  expect((await parts.users.find(ann))?.asked).toBeDefined()
})

test('a check does not refuse a user whose next refresh token another replica stores meanwhile', async () => {
  const { cluster, parts, later, logIn, ask } = open()
  await logIn()
  later()
  let second: Promise<void> | undefined
  cluster.before = async ({ verb, name }) => {
    if (second || verb !== 'patch' || name !== `p-${ann}`) return
    // The next leader asks with a token that the provider no longer takes.
    second = ask(cluster, AbortSignal.timeout(5000), 500)
    await new Promise(done => setTimeout(done, 200))
  }
  await ask()
  await second
  expect(second).toBeDefined()
  expect(await isRefused(parts)).toBe(false)
})

test.each(['unreachable', 'unavailable'] as const)(
  'a refresh token is stored although the cluster is %s for a while',
  async failure => {
    const { cluster, parts, later, logIn, ask } = open()
    await logIn()
    later()
    let failures = 0
    cluster.before = ({ verb, name }) => {
      if (verb === 'patch' && name === `p-${ann}` && ++failures <= 3) throw new ClusterError(failure, 'not now')
    }
    await ask()
    cluster.before = () => {}
    later()
    await ask()
    expect(failures).toBeGreaterThan(3)
    expect(await isRefused(parts)).toBe(false)
  },
)

test('a refresh token that was stored without a response is recognized', async () => {
  const { cluster, parts, later, logIn, ask, after } = open()
  await logIn()
  later()
  after(async () => {}, false)
  let isFirst = true
  const deaf = new Proxy(cluster, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key, target)
      if (typeof value !== 'function') return value
      return key === 'patch' ? patch : value.bind(target)
    },
  })
  async function patch(...args: Parameters<Cluster['patch']>) {
    const answer = await cluster.patch(...args)
    if (!isFirst) return answer
    isFirst = false
    throw new ClusterError('unreachable', 'the connection has ended')
  }
  await ask(deaf)
  expect(await isRefused(parts)).toBe(true)
})

test('a user whom the provider refuses after the grant is refused, and the record is deleted', async () => {
  const { cluster, parts, later, logIn, ask, after } = open()
  await logIn()
  later()
  after(async () => {}, false)
  await ask()
  expect(await isRefused(parts)).toBe(true)
  const ref = { apiVersion: 'v1', kind: 'Secret', namespace: 'devctl-users', name: `p-${ann}` }
  expect(await cluster.get(ref)).toBeUndefined()
})

test('an aborted signal ends the wait before a refusal, and refuses nobody', async () => {
  const { parts, later, leave, logIn, ask } = open()
  await logIn()
  leave()
  later()
  await ask(undefined, AbortSignal.timeout(200), 60_000).catch(() => {})
  expect(await isRefused(parts)).toBe(false)
  await ask()
  expect(await isRefused(parts)).toBe(true)
})
