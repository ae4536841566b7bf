import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { ApiRoute } from '../../../platform/api/route.ts'
import { ROUTES, type RouteName } from '../../../platform/api/routes.ts'
import { loginAsJob } from '../../../platform/session/ci-login.ts'
import { openPlatform, type TestPlatform } from '../../support/platform/open-platform.ts'
import { RUN } from '../../support/platform/run-name.ts'
import { type StubIssuer, stubIssuer } from '../../support/platform/stub-issuer.ts'

// Jobs of a CI system exchange the token of their CI; the issuer is a stub with real signatures.

const PREFIX = `shop-${RUN}-`
const AUDIENCE = 'https://platform.dev.example.com'

describe.skipIf(!process.env.KUBECONFIG)('a job of a CI system', () => {
  let stub: StubIssuer
  let platform: TestPlatform
  /** ID of a repository that no other run uses. */
  const repository = String(1_000_000 + (process.pid % 100_000))
  beforeAll(async () => {
    stub = await stubIssuer()
    const rules = [{ repository, ref: 'refs/*', prefix: PREFIX }]
    platform = await openPlatform({ ci: [{ kind: 'github', issuer: stub.issuer, rules }] })
  })
  afterEach(() => {
    stub.fault = () => false
    platform.later = 0
  })
  afterAll(async () => {
    await platform?.close()
    stub?.close()
  })

  const claims = (more: object = {}) => ({
    iss: stub.issuer,
    aud: AUDIENCE,
    exp: Math.floor(Date.now() / 1000) + 300,
    sub: 'repo:acme/shop:ref:refs/heads/main',
    repository: 'acme/shop',
    repository_id: repository,
    repository_owner_id: '7',
    ref: 'refs/heads/main',
    event_name: 'push',
    ...more,
  })
  const exchange = async (more: object = {}, isOtherKey = false) =>
    platform.call('POST /auth/ci', { body: { jwt: await stub.sign(claims(more), isOtherKey) } })

  test('a job gets a token for an hour, as its repository and not as a user', async () => {
    const { status, body } = await exchange()
    expect([status, body.login]).toEqual([200, 'ci:acme/shop'])
    expect(Date.parse(body.expires) - Date.now()).toBeLessThanOrEqual(3_600_000)
    const me = await platform.call('GET /me', { token: body.token })
    expect(me.body).toMatchObject({ role: 'developer', login: 'ci:acme/shop' })
    expect(me.body.home).toBeUndefined()
    const again = await platform.call('GET /me', { token: (await exchange({ repository: 'acme/renamed' })).body.token })
    expect(again.body.id).toBe(me.body.id)
    platform.later = 3_601_000
    expect((await platform.call('GET /me', { token: body.token })).status).toBe(401)
  })

  test.each<readonly [string, object, boolean]>([
    ['signed by another key', {}, true],
    ['for another audience', { aud: 'https://platform.example.org' }, false],
    ['of another issuer', { iss: 'https://token.actions.githubusercontent.com' }, false],
    ['of nobody', { iss: undefined }, false],
    ['expired', { exp: 1_600_000_000 }, false],
    ['without an end', { exp: undefined }, false],
    ['without a number of its repository', { repository_id: 'acme/shop' }, false],
    ['with a list as number', { repository_id: [repository] }, false],
  ])('the platform refuses a CI token %s', async (_, more, isOtherKey) => {
    const { status, error } = await exchange(more, isOtherKey)
    expect([status, error.code]).toEqual([401, 'platform/ci'])
  })

  test.each([
    { repository_id: '1' },
    // A rule compares the number, not the name.
    { repository_id: '2', repository: 'acme/shop' },
    { ref: 'main' },
    { event_name: 'pull_request_target' },
    { event_name: 'workflow_run' },
    { event_name: '' },
  ])('a job with the claims %j fits no rule', async more => {
    expect((await exchange(more)).error.code).toBe('platform/ci-rule')
  })

  test.each(['', 'x', 'a.b.c', `${'e30'}.${'e30'}.`])('the platform refuses %j, which is no JWT', async jwt => {
    expect((await platform.call('POST /auth/ci', { body: { jwt } })).error.code).toBe('platform/ci')
  })

  test('the platform refuses a token that is not signed', async () => {
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const jwt = `${part({ alg: 'none' })}.${part({ ...claims(), iat: Math.floor(Date.now() / 1000) })}.`
    expect((await platform.call('POST /auth/ci', { body: { jwt } })).error.code).toBe('platform/ci')
  })

  const closed = (Object.entries(ROUTES) as readonly [RouteName, ApiRoute][]).filter(
    ([, { caller, isForCi }]) => caller !== 'nobody' && !isForCi,
  )
  describe('the token of a job', () => {
    let token: string
    beforeAll(async () => {
      token = (await exchange()).body.token
    })
    test.each(closed.map(([route]) => route))('the token of a job is refused by %s', async route => {
      const params = { ns: `shop-${RUN}`, user: 'a'.repeat(16), id: 'a'.repeat(16) }
      const { status, error } = await platform.call(route, { token, params, body: {} })
      expect([status, error.code]).toEqual([403, 'platform/not-allowed'])
    })
  })

  test('a job creates, reads and deletes only previews whose names begin with its prefix', async () => {
    const { token } = (await exchange()).body
    const source = 'https://git.example.com/acme/shop'
    const ann = await platform.person('ann')
    const admin = await platform.person('root', 'admin')
    const [own, others, wrong] = [`${PREFIX}one`, `${PREFIX}ann`, `shop${RUN}-x`]
    const make = (name: string | undefined, by = token) =>
      platform.call('POST /previews', { token: by, body: { ...(name !== undefined && { name }), repository: source } })
    expect((await make(own)).body).toMatchObject({ name: own, owner: { login: 'ci:acme/shop' } })
    expect((await make(others, admin.token)).status).toBe(200)
    expect((await make(wrong, ann.token)).status).toBe(200)
    const refused = await make(wrong)
    expect([refused.status, refused.error]).toEqual([
      403,
      expect.objectContaining({
        message: `this job may not use the name \`${wrong}\` for a preview`,
        hint: expect.stringContaining(PREFIX),
      }),
    ])
    // The default name consists of the repository and the branch.
    expect((await make(undefined)).status).toBe(403)
    const routes = ['GET /previews/:name', 'DELETE /previews/:name'] as const
    const status = async (route: (typeof routes)[number] | 'GET /previews/:name/runs/:id/log', name: string) =>
      (await platform.call(route, { token, params: { name, id: '0'.repeat(26) } })).status
    for (const route of [...routes, 'GET /previews/:name/runs/:id/log'] as const)
      expect([route, await status(route, wrong), await status(route, others)]).toEqual([route, 403, 404])
    const { body: list } = await platform.call('GET /previews', { token })
    expect(list.items.map(({ name }) => name)).toEqual([own])
    expect(await status('GET /previews/:name', own)).toBe(200)
    expect((await make(own)).status).toBe(200)
    expect(await status('DELETE /previews/:name', own)).toBe(204)
  })

  test('names with the prefix of a rule are reserved for jobs, except for administrators', async () => {
    const { token } = (await exchange()).body
    const [bob, admin] = [await platform.person('bob'), await platform.person('root', 'admin')]
    const repository = 'https://git.example.com/acme/shop'
    const preview = (by: string, name: string) =>
      platform.call('POST /previews', { token: by, body: { name, repository } })
    const kept = expect.objectContaining({
      code: 'platform/kept-name',
      message: `names that begin with \`${PREFIX}\` are reserved for CI jobs`,
    })
    for (const refused of [
      await preview(bob.token, `${PREFIX}7`),
      await platform.call('POST /namespaces', { token: bob.token, body: { name: `${PREFIX}7` } }),
    ])
      expect([refused.status, refused.error]).toEqual([403, kept])
    expect((await preview(token, `${PREFIX}7`)).status).toBe(200)
    // If the namespace already exists, a job learns its owner; other users do not.
    expect((await platform.call('POST /namespaces', { token: admin.token, body: { name: `${PREFIX}8` } })).status).toBe(
      200,
    )
    expect((await preview(token, `${PREFIX}8`)).error).toMatchObject({
      code: 'platform/exists',
      message: `\`${PREFIX}8\` belongs to root-${RUN}, not to ci:acme/shop`,
    })
    expect((await preview(bob.token, `${PREFIX}8`)).error).toEqual(kept)
    // A user with such a login gets a home namespace of another name.
    const { home } = await platform.person(`shop-${RUN}-x`)
    expect(home).toMatch(/^dev-/)
  })

  test('the command line exchanges the tokens of GitLab and GitHub Actions', async () => {
    const url = await platform.app.listen({ port: 0, host: '127.0.0.1' })
    const signal = AbortSignal.timeout(60_000)
    // GitLab issues its token for the address of the platform; the test uses another address.
    const secret = await loginAsJob(url, { DEVCTL_ID_TOKEN: await stub.sign(claims()) }, signal)
    expect(secret.reveal()).toMatch(/^devctl_ci_/)
    let asked = ''
    const jwt = await stub.sign(claims())
    stub.fault = (path, response) => {
      if (path !== '/actions-token') return false
      asked = path
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ value: jwt }))
      return true
    }
    const env = {
      ACTIONS_ID_TOKEN_REQUEST_URL: `${stub.issuer}/actions-token?v=1`,
      ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'a-token-that-is-in-no-other-text',
    }
    expect((await loginAsJob(url, env, signal)).reveal()).toMatch(/^devctl_ci_/)
    expect(asked).toBe('/actions-token')
    stub.fault = (_, response) => Boolean(response.writeHead(403).end())
    await expect(loginAsJob(url, env, signal)).rejects.toThrow('the CI gives this job no token: status 403')
  })
})
