import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createApp } from '../../../platform/server/http/app.ts'
import { makeApps, type PortApp } from '../../../platform/server/http/make-apps.ts'
import { openPlatform, type TestPlatform } from '../../support/platform/open-platform.ts'

// Limits on the number of login attempts.

const PROXY = '10.9.8.7'
const PROVIDER = {
  kind: 'github',
  id: 'github',
  name: 'GitHub',
  url: 'https://github.com',
  clientId: 'devctl',
  allow: [],
} as const

describe.skipIf(!process.env.KUBECONFIG)('attempts to log in', () => {
  let platform: TestPlatform
  beforeAll(async () => {
    platform = await openPlatform({ trustedProxies: [PROXY], providers: [PROVIDER] })
  })
  afterAll(() => platform?.close())

  const attempt = async (remoteAddress: string, forwarded?: string) => {
    const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded }
    const payload = { code: 'x.y', verifier: 'v'.repeat(43) }
    const answer = await platform.app.inject({
      method: 'POST',
      url: '/api/v1/auth/cli',
      remoteAddress,
      headers,
      payload,
    })
    return answer.statusCode
  }
  const many = async (number: number, ...from: Parameters<typeof attempt>) => {
    const all = await Promise.all(Array.from({ length: number }, () => attempt(...from)))
    return all.filter(one => one === 429).length
  }
  /** Makes attempts until none is left for this address; on a slow machine, it regains some meanwhile. */
  const exhaust = (...from: Parameters<typeof attempt>) => untilRefused(() => many(230, ...from))
  async function untilRefused(attempts: () => Promise<number>, what = 'too many'): Promise<void> {
    let refused = 0
    for (let batch = 0; batch < 30 && refused === 0; batch++) refused = await attempts()
    expect(refused, what).toBeGreaterThan(0)
  }

  test('an address with too many attempts is refused, and others are not', async () => {
    const browser = async (remoteAddress: string) => {
      const { statusCode, headers } = await platform.app.inject({ url: '/login/github', remoteAddress })
      return [statusCode, headers.location]
    }
    await exhaust('203.0.113.1')
    // The limit lets some through as time passes.
    const browsers = await Promise.all(Array.from({ length: 50 }, () => browser('203.0.113.1')))
    expect(browsers).toContainEqual([303, '/login?problem=too-many'])
    expect(await attempt('203.0.113.2')).toBe(401)
    expect(await browser('203.0.113.2')).toEqual([303, expect.stringMatching(/^https:\/\/github\.com\/login\/oauth\//)])
  })

  test('X-Forwarded-For counts only from proxies that the settings name', async () => {
    await exhaust('203.0.113.3', '198.51.100.1')
    await untilRefused(() => many(100, '203.0.113.3', '198.51.100.2'), 'a header changes nothing')
    await exhaust(PROXY, '198.51.100.3')
    expect(await attempt(PROXY, '198.51.100.4')).toBe(401)
    await untilRefused(() => many(100, PROXY, '198.51.100.5, 198.51.100.3'), 'the proxy has added the last')
  })

  test('X-Forwarded-For never counts on the port of runs, even from the address of a proxy', async () => {
    const { world, parts } = platform
    const [main, runs] = makeApps((web, options) => createApp(world, parts, web, options), undefined, {
      main: 1,
      runs: 2,
    })
    const attemptAt = async ({ app }: PortApp, forwarded: string) =>
      (
        await app.inject({
          method: 'POST',
          url: '/api/v1/auth/cli',
          remoteAddress: PROXY,
          headers: { 'x-forwarded-for': forwarded },
          payload: { code: 'x.y', verifier: 'v'.repeat(43) },
        })
      ).statusCode
    const from = (app: PortApp) =>
      Promise.all(Array.from({ length: 230 }, (_, at) => attemptAt(app, `198.51.100.${at % 250}`)))
    expect(await from(main!)).not.toContain(429)
    await untilRefused(async () => (await from(runs!)).filter(one => one === 429).length)
    await Promise.all([main!.app.close(), runs!.app.close()])
  })

  test('clients behind an unknown proxy have separate limits, and the proxy has a larger one', async () => {
    const app = createApp(
      { ...platform.world, settings: { ...platform.world.settings, trustedProxies: [] } },
      platform.parts,
    )
    const from = async (remoteAddress: string, forwarded: string) => {
      const headers = { 'x-forwarded-for': forwarded }
      const payload = { code: 'x.y', verifier: 'v'.repeat(43) }
      return (await app.inject({ method: 'POST', url: '/api/v1/auth/cli', remoteAddress, headers, payload })).statusCode
    }
    const refused = async (count: number, address: (at: number) => string, proxy = '10.1.1.1') => {
      const all = await Promise.all(Array.from({ length: count }, (_, at) => from(proxy, address(at))))
      return all.filter(one => one === 429).length
    }
    await untilRefused(() => refused(230, () => '203.0.113.7'))
    await untilRefused(() => refused(100, at => `198.51.100.${at}, 203.0.113.7`), 'the proxy has added the last')
    expect(await refused(100, () => '203.0.113.8')).toBe(0)
    // A client that connects without the proxy can claim any address, so the connecting address has a limit, too.
    const anybody = (at: number) => `192.0.${at >> 8}.${at & 255}`
    await untilRefused(() => refused(800, anybody, '10.1.1.2'))
    expect(await from('10.1.1.1', '203.0.113.9')).toBe(401)
    await app.close()
  })

  test('valid attempts use up no limit, and polls of one login are limited', async () => {
    const remoteAddress = '203.0.113.20'
    const post = async (path: string, payload: object) => {
      const answer = await platform.app.inject({ method: 'POST', url: `/api/v1/auth/${path}`, remoteAddress, payload })
      return { status: answer.statusCode, body: answer.json() }
    }
    for (let at = 0; at < 11; at++) {
      const { body } = await post('device', { label: `laptop-${at}` })
      const polls = await Promise.all(Array.from({ length: 20 }, () => post('device/poll', { device: body.device })))
      expect(polls.map(({ status }) => status)).toEqual(polls.map(() => 200))
      if (at === 0)
        expect(
          (await Promise.all(Array.from({ length: 60 }, () => post('device/poll', { device: body.device })))).filter(
            ({ status }) => status === 429,
          ).length,
        ).toBeGreaterThan(0)
    }
    expect(await many(100, remoteAddress)).toBe(0)
  })

  test('an address can begin only some logins by code, and others still can', async () => {
    const begin = async (remoteAddress: string) =>
      (
        await platform.app.inject({
          method: 'POST',
          url: '/api/v1/auth/device',
          remoteAddress,
          payload: { label: 'laptop' },
        })
      ).statusCode
    const all = await Promise.all(Array.from({ length: 50 }, () => begin('203.0.113.30')))
    expect(all.filter(one => one === 429).length).toBeGreaterThan(0)
    expect(all.filter(one => one === 200).length).toBeGreaterThanOrEqual(30)
    expect(await begin('203.0.113.31')).toBe(200)
  })

  test('a user cannot guess the codes of other users', async () => {
    const { token } = await platform.person('guesser')
    const guess = async () =>
      (await platform.call('POST /auth/device/look', { token, body: { code: 'BCDF-GHJK' } })).status
    const all = []
    for (let at = 0; at < 22; at++) all.push(await guess())
    expect(all).toEqual([...Array.from({ length: 20 }, () => 404), 429, 429])
  })
})
