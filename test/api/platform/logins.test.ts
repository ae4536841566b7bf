import { createHash, randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openPlatform, type Person, type TestPlatform } from '../../support/platform/open-platform.ts'
import { RUN } from '../../support/platform/run-name.ts'

describe.skipIf(!process.env.KUBECONFIG)('logins', () => {
  let platform: TestPlatform
  let person: Person
  beforeAll(async () => {
    platform = await openPlatform()
    person = await platform.person('ann')
  })
  afterAll(() => platform?.close())

  const pair = () => {
    const verifier = randomBytes(32).toString('base64url')
    return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') }
  }
  const tokenOf = (granted: object) => ('token' in granted ? String(granted.token) : '')
  const allow = async (challenge: string) => {
    const body = { challenge, label: 'laptop-7' }
    return (await platform.call('POST /auth/cli/code', { token: person.token, body })).body.code
  }

  test('a command line gets one token for a code that its user has allowed', async () => {
    const { verifier, challenge } = pair()
    const code = await allow(challenge)
    const first = await platform.call('POST /auth/cli', { body: { code, verifier } })
    expect(first.status).toBe(200)
    expect((await platform.call('GET /me', { token: first.body.token })).body.id).toBe(person.id)
    expect((await platform.call('POST /auth/cli', { body: { code, verifier } })).error.code).toBe('platform/code')
  })

  test('a code with a wrong verifier gives no token, and is used up', async () => {
    const { verifier, challenge } = pair()
    const code = await allow(challenge)
    const wrong = pair().verifier
    expect((await platform.call('POST /auth/cli', { body: { code, verifier: wrong } })).status).toBe(401)
    expect((await platform.call('POST /auth/cli', { body: { code, verifier } })).status).toBe(401)
  })

  test('a code of a user whom the provider has refused since gives no token', async () => {
    const { verifier, challenge } = pair()
    const gone = await platform.person('gone')
    const body = { challenge, label: 'laptop-7' }
    const { code } = (await platform.call('POST /auth/cli/code', { token: gone.token, body })).body
    await platform.parts.users.change(gone.id, { isRefused: true })
    const before = await platform.parts.tokens.of(gone.id)
    expect((await platform.call('POST /auth/cli', { body: { code, verifier } })).status).toBe(401)
    expect(await platform.parts.tokens.of(gone.id)).toEqual(before)
  })

  test('a code expires after a minute', async () => {
    const { verifier, challenge } = pair()
    const code = await allow(challenge)
    platform.later = 61_000
    expect((await platform.call('POST /auth/cli', { body: { code, verifier } })).status).toBe(401)
    platform.later = 0
  })

  test('one of ten concurrent requests with the same code gets a token', async () => {
    const { verifier, challenge } = pair()
    const code = await allow(challenge)
    const all = Array.from({ length: 10 }, () => platform.call('POST /auth/cli', { body: { code, verifier } }))
    const statuses = (await Promise.all(all)).map(({ status }) => status).sort()
    expect(statuses).toEqual([200, ...Array.from({ length: 9 }, () => 401)])
  })

  test('a login without a browser is allowed by a code that is typed elsewhere', async () => {
    const { body: asked } = await platform.call('POST /auth/device', { body: { label: 'server-3' } })
    expect(asked.code).toMatch(/^[A-Z]{4}-[A-Z]{4}$/)
    const poll = () => platform.call('POST /auth/device/poll', { body: { device: asked.device } })
    expect((await poll()).body).toEqual({ isPending: true })
    const typed = asked.code.toLowerCase().replace('-', ' ')
    const { body: shown } = await platform.call('POST /auth/device/look', {
      token: person.token,
      body: { code: typed },
    })
    expect(shown.label).toBe('server-3')
    const answer = { code: typed, isAllowed: true }
    expect((await platform.call('POST /auth/device/answer', { token: person.token, body: answer })).status).toBe(204)
    expect((await poll()).body).toMatchObject({ login: `ann-${RUN}` })
    expect((await poll()).error.code).toBe('platform/device')
  })

  test('the label of a login may not contain characters that change the text around it', async () => {
    for (const label of ['canary\u202e', 'canary\u009b2J', 'canary\u007f', 'canary\u200f', 'canary\ud800']) {
      const { token } = person
      const challenge = 'a'.repeat(43)
      const answers = await Promise.all([
        platform.call('POST /auth/device', { body: { label } }),
        platform.call('POST /auth/cli/code', { token, body: { challenge, label } }),
        platform.call('POST /auth/setup', { body: { token: 'x', login: 'x', label } }),
        platform.call('POST /me/tokens', { token, body: { label } }),
      ])
      expect(answers.map(({ error }) => error.code)).toEqual(Array.from(answers, () => 'platform/request'))
    }
    expect(JSON.stringify(platform.audit)).not.toContain('canary')
    const { status } = await platform.call('POST /auth/device', { body: { label: 'Änne’s Läptop 💻' } })
    expect(status).toBe(200)
  })

  test('a refused login is reported, and can no longer be allowed', async () => {
    const { body: asked } = await platform.call('POST /auth/device', { body: { label: 'mallory' } })
    const answer = (isAllowed: boolean) =>
      platform.call('POST /auth/device/answer', { token: person.token, body: { code: asked.code, isAllowed } })
    expect((await answer(false)).status).toBe(204)
    expect((await platform.call('POST /auth/device/poll', { body: { device: asked.device } })).error.code).toBe(
      'platform/refused',
    )
    expect((await answer(true)).error.code).toBe('platform/code')
  })

  test('the setup link makes its first user an administrator, and works once', async () => {
    const { text } = await platform.parts.tokens.issue({ kind: 'setup', label: 'setup' })
    const login = `root-${RUN}`
    const first = await platform.call('POST /auth/setup', { body: { token: text, login, label: 'laptop' } })
    expect(first.status).toBe(200)
    expect((await platform.call('GET /me', { token: tokenOf(first.body) })).body).toMatchObject({
      role: 'admin',
      home: login,
    })
    expect(
      (await platform.call('POST /auth/setup', { body: { token: text, login: 'other', label: '' } })).error.code,
    ).toBe('platform/link')
  })

  test('an invitation is for one name, and creates no administrator', async () => {
    const { text } = await platform.parts.tokens.issue({ kind: 'invite', label: `bob-${RUN}` })
    const first = await platform.call('POST /auth/setup', { body: { token: text, login: 'admin', label: '' } })
    const { body } = await platform.call('GET /me', { token: tokenOf(first.body) })
    expect(body).toMatchObject({ role: 'developer', login: `bob-${RUN}` })
  })
})
