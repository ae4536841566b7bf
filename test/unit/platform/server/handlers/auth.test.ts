import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import type { PlatformUser } from '../../../../../platform/records/user.ts'
import { LINK_ISSUER } from '../../../../../platform/server/login/users.ts'
import { memoryPlatform } from '../../../../support/platform/memory-platform.ts'

const DAY = 86_400_000
const verifier = 'v'.repeat(43)
const challenge = createHash('sha256').update(verifier).digest('base64url')

test('a command line that renews its login loses access 30 days after the login with the provider', async () => {
  const { call, clock, person, tokenOf } = memoryPlatform()
  const statusOf = async (token: string) => (await call('GET /me', { token })).status
  const renew = async (token: string) => {
    const { body } = await call('POST /auth/cli/code', { token, body: { challenge, label: 'laptop' } })
    return (await call('POST /auth/cli', { body: { code: body.code, verifier } })).body.token
  }
  const first = await tokenOf(await person('ann'), 'cli')
  clock.later = 29 * DAY
  const second = await renew(first)
  expect(await statusOf(second)).toBe(200)
  clock.later = 31 * DAY
  expect(await call('POST /auth/cli/code', { token: second, body: { challenge, label: 'laptop' } })).toMatchObject({
    status: 401,
    error: { message: '`ann` has to log in again' },
  })
  expect(await statusOf(second)).toBe(401)
  await person('ann')
  expect(await statusOf(second)).toBe(200)
})

test.each([
  ['in the browser', undefined],
  ['of a command line', 'laptop'],
])('a suspended user cannot use an invitation for a login %s, which is kept', async (_, label) => {
  const { parts, audit, call, cluster } = memoryPlatform()
  const bob = await parts.users.loggedIn({ issuer: LINK_ISSUER, subject: 'bob', login: 'bob' })
  await parts.users.change(bob.id, { isSuspended: true })
  const { text } = await parts.tokens.issue({ kind: 'invite', label: 'bob' })
  const body = { token: text, login: 'x', ...(label !== undefined && { label }) }
  const refusal = await call('POST /auth/setup', { body })
  expect(refusal).toMatchObject({ status: 403, error: { message: '`bob` is suspended', hint: 'ask an administrator' } })
  expect(await cluster.get({ apiVersion: 'v1', kind: 'Namespace', name: 'bob' })).toBeUndefined()
  expect(audit.at(-1)).toMatchObject({ status: 403 })
  await parts.users.change(bob.id, { isSuspended: false })
  expect(await call('POST /auth/setup', { body })).toMatchObject({ status: 200 })
})

test('a setup link of an earlier install is for the first administrator only', async () => {
  const { parts, call, person, tokenOf } = memoryPlatform()
  const [first, second, third] = await Promise.all(
    [1, 2, 3].map(async () => (await parts.tokens.issue({ kind: 'setup', label: 'setup' })).text),
  )
  const enter = (token: string, login: string) => call('POST /auth/setup', { body: { token, login, label: 'laptop' } })
  expect(await enter(first!, 'ann')).toMatchObject({ status: 200 })
  const refused = { status: expect.any(Number), error: { message: expect.stringContaining('link') } }
  expect(await enter(second!, 'eve')).toMatchObject(refused)
  const token = await tokenOf(await person('eve'), 'cli')
  expect(await call('POST /auth/claim', { token, body: { token: third! } })).toMatchObject(refused)
  expect((await parts.users.all()).filter(({ role }) => role === 'admin').map(({ login }) => login)).toEqual(['ann'])
})

test.each<readonly [string, Partial<PlatformUser>, number, number, string]>([
  ['was suspended since', { isSuspended: true }, 0, 403, '`ann` is suspended'],
  ['was refused since', { isRefused: true }, 0, 401, '`ann` has to log in again'],
  ['the provider has not confirmed for 30 days', {}, 31 * DAY, 401, '`ann` has to log in again'],
])('a command line cannot log in as a user who %s', async (_, change, later, status, message) => {
  const { person, parts, clock, call } = memoryPlatform()
  const ann = await person('ann')
  await parts.users.change(ann.id, change)
  clock.later = later
  const code = await parts.logins.allow(ann.id, challenge, 'laptop')
  expect(await call('POST /auth/cli', { body: { code, verifier } })).toMatchObject({ status, error: { message } })
  expect(await parts.tokens.of(ann.id)).toEqual([])
})
