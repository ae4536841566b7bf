import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openPlatform, type TestPlatform } from '../../support/platform/open-platform.ts'
import { longTest } from '../../support/takes-all.ts'

// Tests the effects of many requests of one user on other users.

describe.skipIf(!process.env.KUBECONFIG)('many requests of one user', () => {
  let platform: TestPlatform
  beforeAll(async () => {
    platform = await openPlatform()
  })
  afterAll(() => platform?.close())

  test('requests of other users do not wait behind those of one user', async () => {
    const [ann, bob] = [await platform.person('ann'), await platform.person('bob')]
    for (const { token } of [ann, bob]) await platform.call('GET /me', { token })
    let left = 400
    const flood = Array.from({ length: left }, async () => {
      const { status } = await platform.call('GET /me/tokens', { token: bob.token })
      left--
      return status
    })
    expect((await platform.call('GET /me/tokens', { token: ann.token })).status).toBe(200)
    // The server refused 192 of the requests at once.
    expect(left).toBeGreaterThan(100)
    const statuses = await Promise.all(flood)
    expect(statuses.filter(one => one === 200)).toHaveLength(208)
    expect(statuses.filter(one => one === 429)).toHaveLength(192)
    expect((await platform.call('GET /me', { token: bob.token })).status).toBe(200)
  })

  longTest('logins of the registry share one limit, whatever user name they have', async () => {
    const { token } = await platform.person('dan')
    const login = (name: string) => ({ authorization: `Basic ${Buffer.from(`${name}:${token}`).toString('base64')}` })
    const ask = (name: string) =>
      platform.call('GET /registry/token', {
        headers: login(name),
        query: { service: 'registry.example.com', scope: '' },
      })
    const { status: usual } = await ask('dan')
    const statuses = (await Promise.all(Array.from({ length: 300 }, (_, at) => ask(`name-${at}`)))).map(
      one => one.status,
    )
    expect(statuses.filter(one => one === 429)).toHaveLength(92)
    expect(statuses.filter(one => one === usual)).toHaveLength(208)
    expect(usual).not.toBe(429)
  })

  test('waiting requests of a suspended user are refused', async () => {
    const [admin, eve] = [await platform.person('root', 'admin'), await platform.person('eve')]
    await platform.call('GET /me', { token: eve.token })
    const flood = Array.from({ length: 200 }, () => platform.call('GET /previews', { token: eve.token }))
    const change = { params: { user: eve.id }, body: { isSuspended: true } }
    expect((await platform.call('PATCH /admin/users/:user', { token: admin.token, ...change })).status).toBe(200)
    const statuses = (await Promise.all(flood)).map(({ status }) => status)
    expect(statuses.filter(one => [401, 403].includes(one)).length).toBeGreaterThan(0)
    expect(statuses.at(-1)).not.toBe(200)
  })

  longTest('a user who starts and cancels runs can only have a limited number to clean up', async () => {
    const { token, home: namespace } = await platform.person('carol')
    const body = { namespace, environment: 'shop', action: 'deploy', repository: 'https://git.example.com/team/shop' }
    const startAndCancel = async (): Promise<string | undefined> => {
      const { status, error, body: run } = await platform.call('POST /runs', { token, body })
      if (status !== 200) return error.message
      await platform.call('POST /runs/:id/cancel', { token, params: { id: run.id } })
      return undefined
    }
    const ends: (string | undefined)[] = []
    const isRefused = () => ends.length > 0 && ends.slice(-10).every(one => one !== undefined)
    for (let batch = 0; batch < 8 && !isRefused(); batch++)
      ends.push(...(await Promise.all(Array.from({ length: 10 }, () => startAndCancel()))))
    // Concurrent requests count each other, but not those that are cancelled meanwhile.
    expect(ends.filter(one => one === undefined).length).toBeLessThanOrEqual(60)
    expect(ends.at(-1)).toMatch(/^\d+ of your runs have just ended, and are being cleaned up$/)
  })
})
