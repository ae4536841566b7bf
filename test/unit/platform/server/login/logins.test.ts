import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { fromOneTime } from '../../../../../platform/records/one-time.ts'
import type { ServerContext } from '../../../../../platform/server/context.ts'
import type { PlatformError } from '../../../../../platform/server/http/platform-error.ts'
import { Logins } from '../../../../../platform/server/login/logins.ts'
import { Tokens } from '../../../../../platform/server/login/tokens.ts'
import { MemoryCluster } from '../../../../support/memory-cluster/memory-cluster.ts'

// Logins, and attempts to log in, leave a limited number of records behind.

function open() {
  let now = Date.UTC(2026, 0, 1)
  const cluster = new MemoryCluster({ namespaces: ['devctl-users'] })
  const world = { cluster, now: () => now, random: randomBytes } as unknown as ServerContext
  const later = (milliseconds: number) => {
    now += milliseconds
  }
  return { logins: new Logins(world), tokens: new Tokens(world), later, cluster }
}

const LONG_AGO = '2020-01-01T00:00:00Z'

const refusal = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: PlatformError) => [error.status, error.body.code],
  )

test('a limited number of logins wait for their codes, and expired ones do not count', async () => {
  const { logins, cluster, later } = open()
  const { expires } = await logins.ask('laptop')
  // Half of the logins have expired already.
  for (let at = 1; at < 2000; at++) {
    const value = {
      kind: 'device',
      label: 'laptop',
      code: 'x.y',
      created: expires,
      expires: at < 1000 ? expires : LONG_AGO,
    } as const
    await cluster.create(fromOneTime(`${at}`, value))
  }
  expect(await refusal(logins.ask('laptop'))).toEqual([503, 'platform/busy'])
  later(600_000)
  expect(await refusal(logins.ask('laptop'))).toBeUndefined()
})

test('a new login ends the oldest one of the user, and API tokens have a limit', async () => {
  const { tokens, later } = open()
  const [ann, bob] = ['a'.repeat(16), 'b'.repeat(16)]
  const issue = (kind: 'cli' | 'session' | 'api', user = ann) => {
    later(1000)
    return tokens.issue({ kind, label: 'x', user })
  }
  const first = await issue('cli')
  const other = await issue('cli', bob)
  const session = await issue('session')
  for (let at = 0; at < 50; at++) await issue('cli')
  const kinds = async () => (await tokens.of(ann)).map(({ kind }) => kind)
  expect((await kinds()).filter(kind => kind === 'cli')).toHaveLength(50)
  expect(await tokens.find(first.record.id)).toBeUndefined()
  for (const { record } of [other, session]) expect(await tokens.find(record.id)).toBeDefined()
  for (let at = 0; at < 100; at++) await issue('api')
  expect(await refusal(issue('api'))).toEqual([409, 'platform/quota'])
  expect((await kinds()).filter(kind => kind === 'api')).toHaveLength(100)
  expect(await refusal(issue('api', bob))).toBeUndefined()
})
