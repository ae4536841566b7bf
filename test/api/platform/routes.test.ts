import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ApiRoute } from '../../../platform/api/route.ts'
import { ROUTES, type RouteName } from '../../../platform/api/routes.ts'
import { altered } from '../../support/platform/altered.ts'
import { openPlatform, type Person, type TestPlatform } from '../../support/platform/open-platform.ts'
import { RUN } from '../../support/platform/run-name.ts'

// Tests every route with a real API server and without a valid token, and the contents of a namespace. Permissions
// are tested in `route-access.test.ts`.

describe.skipIf(!process.env.KUBECONFIG)('the routes of the platform', () => {
  let platform: TestPlatform
  let [admin, owner, developer, viewer, stranger]: Person[] = []
  const name = `shop-${RUN}`
  /** Tokens that have expired or belong to no user. */
  let [old, nobodys, nobodysId] = ['', '', '']

  beforeAll(async () => {
    platform = await openPlatform()
    ;[admin, owner, developer, viewer, stranger] = await platform.people(
      ['admin', 'admin'],
      'owner',
      'developer',
      'viewer',
      'stranger',
    )
    const made = await platform.call('POST /namespaces', { token: owner.token, body: { name } })
    expect(made.error).toMatchObject({ name, status: 'Active', role: 'owner' })
    for (const [person, role] of [
      [developer, 'developer'],
      [viewer, 'viewer'],
    ] as const)
      expect(
        await platform.call('PUT /namespaces/:ns/members/:user', {
          token: owner.token,
          params: { ns: name, user: person!.id },
          body: { role },
        }),
      ).toMatchObject({ status: 200 })
  })
  beforeAll(async () => {
    const { tokens } = platform.parts
    const [first, second] = await Promise.all([
      tokens.issue({ kind: 'api', label: 'old', user: stranger!.id, lifetime: -1000 }),
      tokens.issue({ kind: 'setup', label: '' }),
    ])
    ;[old, nobodys, nobodysId] = [first.text, second.text, second.record.id]
  })
  afterAll(async () => {
    await platform?.parts.tokens.revoke(nobodysId)
    await platform?.close()
  })

  const closed = (Object.entries(ROUTES) as readonly [RouteName, ApiRoute][]).filter(
    ([, { caller }]) => caller !== 'nobody',
  )

  test.each(closed.map(([route]) => route))('%s refuses callers without a valid token', async route => {
    const params = { ns: name, user: owner!.id, id: 'a'.repeat(16) }
    const good = owner!.token
    const wrong = [
      undefined,
      'nothing',
      altered(good),
      good.replace('_cli_', '_session_'),
      `devctl_cli_${'a'.repeat(16)}_${'0'.repeat(49)}`,
      old,
      nobodys,
    ]
    for (const token of wrong) {
      const { status, error } = await platform.call(route, { ...(token !== undefined && { token }), params, body: {} })
      expect([status, error.code], token).toEqual([401, 'platform/login'])
    }
  })

  test('administrators read the state of the platform, with the rights of the server', async () => {
    await platform.deployServer()
    const { body } = await platform.call('GET /admin/overview', { token: admin!.token })
    const has = (wanted: string) => body.workloads.find(one => one.name === wanted)
    expect(has('deployment/platform')).toMatchObject({ namespace: 'devctl-platform', wanted: 1 })
    expect(body.users.all).toBeGreaterThanOrEqual(5)
    expect(body.namespaces.all).toBeGreaterThanOrEqual(6)
    expect(body.sealing).toMatchObject({ kept: 'secret', seals: 1 })
    expect(body.disk.history).toBeDefined()
    const { body: settings } = await platform.call('GET /settings', { token: admin!.token })
    expect(settings).toMatchObject({ domain: 'dev.example.com', namespacesPerUser: 3, sleepHours: { preview: 1 } })
    // The responses contain no client secret and no key.
    expect(JSON.stringify([body, settings])).not.toMatch(/client-?secret/i)
  })

  test('a token for programs cannot create tokens', async () => {
    const made = await platform.call('POST /me/tokens', { token: owner!.token, body: { label: 'ci', days: 1 } })
    expect(made.status).toBe(200)
    const { token } = made.body
    expect((await platform.call('GET /me', { token })).status).toBe(200)
    expect((await platform.call('POST /me/tokens', { token, body: { label: 'more' } })).error.code).toBe(
      'platform/not-allowed',
    )
    const { body } = await platform.call('GET /me/tokens', { token: owner!.token })
    expect(body.items.map(({ label }) => label)).toContain('ci')
    expect(JSON.stringify(body)).not.toMatch(/hash|devctl_/)
  })

  test('a namespace is created with limits, network policies and a Pod Security level', async () => {
    const { cluster } = platform
    for (const [apiVersion, kind, number] of [
      ['v1', 'ResourceQuota', 1],
      ['v1', 'LimitRange', 1],
      ['networking.k8s.io/v1', 'NetworkPolicy', 3],
    ] as const)
      expect(await cluster.list({ apiVersion, kind, namespace: name })).toHaveLength(number)
    const live = await cluster.get({ apiVersion: 'v1', kind: 'Namespace', name })
    expect(live?.metadata.labels).toMatchObject({ 'pod-security.kubernetes.io/enforce': 'baseline' })
  })

  test('namespaces with a taken, reserved or invalid name are refused, and too many', async () => {
    const create = async (wanted: string, token = stranger!.token) =>
      (await platform.call('POST /namespaces', { token, body: { name: wanted } })).error
    expect(await create(name)).toMatchObject({ code: 'platform/exists', message: `namespace \`${name}\` is taken` })
    for (const wanted of ['kube-system', 'devctl-users', 'default', 'a'.repeat(41)])
      expect(await create(wanted)).toMatchObject({ code: 'platform/name' })
    expect(await create('Not_A_Name')).toMatchObject({ code: 'platform/request' })
    const made = []
    for (let number = 1; number <= 4; number++) made.push((await create(`many-${number}-${RUN}`)).code)
    expect(made).toEqual([undefined, undefined, undefined, 'platform/quota'])
  })

  test('a namespace whose hosts could belong to another one is noted there', async () => {
    const [shorter, longer] = [`dev-${RUN}`, `shop-dev-${RUN}`]
    for (const one of [shorter, longer])
      expect((await platform.call('POST /namespaces', { token: owner!.token, body: { name: one } })).status).toBe(200)
    const live = await platform.cluster.get({ apiVersion: 'v1', kind: 'Namespace', name: shorter })
    expect(live?.metadata.annotations?.['dev.platform/longer-names']).toBe(longer)
  })

  test('a Kubernetes token has the rights of its user, and ends with the token that requested it', async () => {
    const made = await platform.call('POST /me/tokens', { token: developer!.token, body: { label: 'one' } })
    const ask = async () => (await platform.call('POST /kube-token', { token: made.body.token })).body.token
    // The API server caches a token that it has accepted for 10 s, so the end is tested with one that it has not
    // seen.
    const [seen, unseen] = [await ask(), await ask()]
    const review = async (token: string) => {
      const answer = await platform.cluster.create({
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenReview',
        metadata: {} as never,
        spec: { token },
      })
      return answer['status'] as { authenticated?: boolean; user: { username: string } }
    }
    expect(await review(seen)).toMatchObject({
      authenticated: true,
      user: { username: `system:serviceaccount:devctl-users:u-${developer!.id}` },
    })
    expect((await platform.call('POST /auth/logout', { token: made.body.token })).status).toBe(204)
    expect((await platform.call('GET /me', { token: made.body.token })).status).toBe(401)
    const until = Date.now() + 20_000
    while ((await review(unseen)).authenticated && Date.now() < until) await new Promise(done => setTimeout(done, 250))
    expect((await review(unseen)).authenticated).not.toBe(true)
  })

  test('a suspended user loses access at once, with every token', async () => {
    const gone = await platform.person('gone')
    const params = { user: gone.id }
    const { status } = await platform.call('PATCH /admin/users/:user', {
      token: admin!.token,
      params,
      body: { isSuspended: true },
    })
    expect(status).toBe(200)
    expect((await platform.call('GET /me', { token: gone.token })).status).toBe(401)
    expect(await platform.parts.tokens.of(gone.id)).toEqual([])
  })

  test('every change is in the audit, with its user and object, and without secrets', async () => {
    const line = platform.audit.find(({ action }) => action === 'share namespace')
    expect(line).toMatchObject({ user: owner!.id, status: 200, what: { ns: name } })
    expect(JSON.stringify(platform.audit)).not.toMatch(/devctl_(cli|api|session)_/)
  })
})
