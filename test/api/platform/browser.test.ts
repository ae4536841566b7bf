import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ApiRoute } from '../../../platform/api/route.ts'
import { ROUTES, type RouteName } from '../../../platform/api/routes.ts'
import { openPlatform, type TestPlatform } from '../../support/platform/open-platform.ts'
import { RUN } from '../../support/platform/run-name.ts'

// Tests the session of a browser in its cookie, and requests of pages of other origins.

type Headers = Readonly<Record<string, string>>

const OURS: Headers = { 'sec-fetch-site': 'same-origin' }
const HOUR = 3_600_000

describe.skipIf(!process.env.KUBECONFIG)('the session of a browser', () => {
  let platform: TestPlatform
  beforeAll(async () => {
    platform = await openPlatform()
  })
  afterAll(() => platform?.close())

  /** Logs in as a new user; returns the cookie as the browser sends it. */
  async function enter(name: string) {
    const { text } = await platform.parts.tokens.issue({ kind: 'invite', label: `${name}-${RUN}` })
    const answer = await platform.call('POST /auth/setup', { body: { token: text, login: 'x' }, headers: OURS })
    expect(answer.status).toBe(200)
    const set = String(answer.headers['set-cookie'])
    return { answer, set, cookie: set.split(';')[0] ?? '' }
  }

  test('a session is in a cookie for this host only that no script and no response contains', async () => {
    const { answer, set } = await enter('ann')
    expect(set).toMatch(
      /^__Host-devctl=devctl_session_\w+; Path=\/; Max-Age=604800; HttpOnly; Secure; SameSite=Strict$/,
    )
    expect(answer.body).toEqual({ login: `ann-${RUN}`, expires: expect.stringContaining('T') })
  })

  test('a link that a page of another origin submits logs nobody in, and can still be used', async () => {
    const { text } = await platform.parts.tokens.issue({ kind: 'invite', label: `mallory-${RUN}` })
    const send = (headers: Headers) => platform.call('POST /auth/setup', { body: { token: text, login: 'x' }, headers })
    const others: readonly Headers[] = [
      {},
      { origin: 'https://shop.dev.example.com' },
      { 'sec-fetch-site': 'same-site' },
    ]
    for (const headers of others) expect((await send(headers)).error.code).toBe('platform/origin')
    expect((await send(OURS)).status).toBe(200)
  })

  const closed = (Object.entries(ROUTES) as readonly [RouteName, ApiRoute][]).filter(
    ([, { caller }]) => caller !== 'nobody',
  )
  describe('each route', () => {
    let cookie: string
    beforeAll(async () => {
      cookie = (await enter('walker')).cookie
    })

    test.each(closed)('%s refuses a session to pages of other origins', async (route, { caller }) => {
      // The client of a registry has no cookies, so the route ignores them, whichever page sends them.
      const refusal = caller === 'registry' ? [401, 'platform/login'] : [403, 'platform/origin']
      const params = { ns: `walker-${RUN}`, user: 'a'.repeat(16), id: 'a'.repeat(16) }
      const pages: readonly Headers[] = [
        {},
        { origin: 'https://shop-ann.dev.example.com' },
        { origin: 'https://platform.dev.example.com.evil.example' },
        { origin: 'http://platform.dev.example.com' },
        { origin: 'null' },
        { 'sec-fetch-site': 'same-site' },
        { 'sec-fetch-site': 'cross-site' },
        { 'sec-fetch-site': 'none' },
        // The header that no script can set takes precedence.
        { origin: 'https://platform.dev.example.com', 'sec-fetch-site': 'same-site' },
      ]
      for (const from of pages) {
        const { status, error } = await platform.call(route, { params, body: {}, headers: { cookie, ...from } })
        expect([status, error.code], JSON.stringify(from)).toEqual(refusal)
      }
    })
  })

  test('pages of the platform are accepted by `Sec-Fetch-Site` or by the exact origin', async () => {
    const { cookie } = await enter('bob')
    const pages: readonly Headers[] = [OURS, { origin: 'https://platform.dev.example.com' }]
    for (const from of pages)
      expect((await platform.call('GET /me', { headers: { cookie, ...from } })).body.login).toBe(`bob-${RUN}`)
    const among = `a=1; ${cookie}; b=2`
    expect((await platform.call('GET /me', { headers: { cookie: among, ...OURS } })).status).toBe(200)
  })

  test('the token of a session is no token for programs, and a token for programs is no session', async () => {
    const { cookie } = await enter('carol')
    const text = cookie.split('=')[1] ?? ''
    expect((await platform.call('GET /me', { token: text })).status).toBe(401)
    const { token } = await platform.person('dave')
    const headers = { cookie: `__Host-devctl=${token}`, ...OURS }
    expect((await platform.call('GET /me', { headers })).status).toBe(401)
    // A cookie does not make up for a header with an invalid token.
    expect((await platform.call('GET /me', { token: 'nothing', headers: { cookie, ...OURS } })).status).toBe(401)
  })

  test('a session ends 12 hours after its last use, and after 7 days of use', async () => {
    const { cookie } = await enter('erin')
    const status = async (hours: number) => {
      platform.later = hours * HOUR
      return (await platform.call('GET /me', { headers: { cookie, ...OURS } })).status
    }
    try {
      for (let hours = 0; hours < 7 * 24; hours += 11.5) expect([hours, await status(hours)]).toEqual([hours, 200])
      expect(await status(7 * 24)).toBe(401)
      platform.later = 0
      const other = (await enter('frank')).cookie
      platform.later = 12 * HOUR + 1000
      expect((await platform.call('GET /me', { headers: { cookie: other, ...OURS } })).status).toBe(401)
    } finally {
      platform.later = 0
    }
  })

  test('a logout ends the session, and deletes the cookie', async () => {
    const { cookie } = await enter('gina')
    const headers = { cookie, ...OURS }
    const { status, headers: set } = await platform.call('POST /auth/logout', { headers })
    expect([status, set['set-cookie']]).toEqual([
      204,
      '__Host-devctl=; Path=/; Max-Age=0; HttpOnly; Secure; SameSite=Strict',
    ])
    expect((await platform.call('GET /me', { headers })).status).toBe(401)
  })

  test('a use of a session does not restore a session that has ended meanwhile', async () => {
    const { cookie } = await enter('hans')
    const id = cookie.split('_')[2] ?? ''
    const record = (await platform.parts.tokens.find(id))!
    await platform.parts.tokens.revoke(id)
    await expect(platform.parts.tokens.noteUse(record)).rejects.toThrow()
    expect(await platform.parts.tokens.find(id)).toBeUndefined()
  })
})
