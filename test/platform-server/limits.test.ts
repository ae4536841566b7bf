import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeApps, type PortApp } from '../../platform/server/make-apps.ts'
import { openPlatform, type TestPlatform } from './open-platform.ts'

// How often somebody may try to log in.

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
  /** So many that none is left for this address. */
  const exhaust = async (...from: Parameters<typeof attempt>) => expect(await many(300, ...from)).toBeGreaterThan(0)

  test('an address that tries too often waits, and others do not', async () => {
    const browser = async (remoteAddress: string) => {
      const { statusCode, headers } = await platform.app.inject({ url: '/login/github', remoteAddress })
      return [statusCode, headers.location]
    }
    await exhaust('203.0.113.1')
    // Each moment lets one more through.
    const browsers = await Promise.all(Array.from({ length: 50 }, () => browser('203.0.113.1')))
    expect(browsers).toContainEqual([303, '/login?problem=too-many'])
    expect(await attempt('203.0.113.2')).toBe(401)
    expect(await browser('203.0.113.2')).toEqual([303, expect.stringMatching(/^https:\/\/github\.com\/login\/oauth\//)])
  })

  test('what somebody says of their address counts from proxies that the settings name only', async () => {
    await exhaust('203.0.113.3', '198.51.100.1')
    expect(await many(100, '203.0.113.3', '198.51.100.2'), 'a header changes nothing').toBeGreaterThan(0)
    await exhaust(PROXY, '198.51.100.3')
    expect(await attempt(PROXY, '198.51.100.4')).toBe(401)
    expect(await many(100, PROXY, '198.51.100.5, 198.51.100.3'), 'the proxy has added the last').toBeGreaterThan(0)
  })

  test('on the port of runs, it never does: a run may have an address like that of a proxy', async () => {
    const [main, runs] = makeApps(platform.world, platform.parts, undefined, { main: 1, runs: 2 })
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
      Promise.all(Array.from({ length: 300 }, (_, at) => attemptAt(app, `198.51.100.${at % 250}`)))
    expect(await from(main!)).not.toContain(429)
    expect(await from(runs!)).toContain(429)
    await Promise.all([main!.app.close(), runs!.app.close()])
  })

  test('a person cannot guess the codes that others have to type', async () => {
    const { token } = await platform.person('guesser')
    const guess = async () =>
      (await platform.call('POST /auth/device/look', { token, body: { code: 'BCDF-GHJK' } })).status
    const all = []
    for (let at = 0; at < 22; at++) all.push(await guess())
    expect(all).toEqual([...Array.from({ length: 20 }, () => 404), 429, 429])
  })
})
