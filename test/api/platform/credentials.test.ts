import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openPlatform, type Person, type TestPlatform } from '../../support/platform/open-platform.ts'
import { RUN } from '../../support/platform/run-name.ts'

// Tests access to the credentials of forges, and their choice for a run, with a real API server.

describe.skipIf(!process.env.KUBECONFIG)('credentials of forges', () => {
  let platform: TestPlatform
  let [admin, owner, developer, viewer, stranger]: Person[] = []
  const ns = `forge-${RUN}`
  const scope = `namespace:${ns}`
  const host = 'git.example.com'

  beforeAll(async () => {
    platform = await openPlatform()
    ;[admin, owner, developer, viewer, stranger] = await platform.people(
      ['admin', 'admin'],
      'owner',
      'developer',
      'viewer',
      'stranger',
    )
    await platform.call('POST /namespaces', { token: owner.token, body: { name: ns } })
    for (const [person, role] of [
      [developer, 'developer'],
      [viewer, 'viewer'],
    ] as const) {
      const params = { ns, user: person.id }
      await platform.call('PUT /namespaces/:ns/members/:user', { token: owner.token, params, body: { role } })
    }
  })
  afterAll(() => platform?.close())

  const set = ({ token }: { readonly token: string }, scope: string, of = host, body: object = good) =>
    platform.call('PUT /credentials/:scope/:host', { token, params: { scope, host: of }, body })
  const list = ({ token }: { readonly token: string }, scope: string) =>
    platform.call('GET /credentials/:scope', { token, params: { scope } })
  const remove = ({ token }: { readonly token: string }, scope: string) =>
    platform.call('DELETE /credentials/:scope/:host', { token, params: { scope, host } })
  const good = { user: 'bot', password: 'canary' }
  const statuses = (work: (person: Person) => Promise<{ readonly status: number }>) =>
    Promise.all([admin!, owner!, developer!, viewer!, stranger!].map(async person => (await work(person)).status))

  test.each([
    // admin, owner, developer, viewer, stranger
    ['user', [204, 204, 204, 204, 204]],
    [scope, [403, 204, 204, 403, 404]],
    ['admin', [400, 400, 400, 400, 400]],
  ])('the scope `%s` decides which users may set and list credentials', async (scope, expected) => {
    expect(await statuses(one => set(one, scope))).toEqual(expected)
    expect(await statuses(one => list(one, scope))).toEqual(expected.map(one => (one === 204 ? 200 : one)))
  })

  test('a password is in no response and no record, and tokens of runs and jobs have no access', async () => {
    const { body } = await list(owner!, scope)
    expect(body.items).toMatchObject([{ host, user: 'bot' }])
    const query = { apiVersion: 'v1', kind: 'Secret', namespace: 'devctl-users' }
    const records = (await platform.cluster.list(query)).filter(({ metadata }) =>
      metadata.name.startsWith('credentials-'),
    )
    const text = records.flatMap(({ data }) => Object.values(data ?? {})).map(one => Buffer.from(one, 'base64'))
    expect(text.length).toBeGreaterThan(0)
    expect(JSON.stringify(body) + text.join() + JSON.stringify(platform.audit)).not.toContain('canary')
    const issued = { label: 'x', user: owner!.id, namespaces: [ns], prefix: 'shop-' }
    for (const kind of ['run', 'ci'] as const) {
      const token = (await platform.parts.tokens.issue({ kind, ...issued })).text
      expect((await set({ token }, 'user')).status).toBe(403)
      expect((await list({ token }, scope)).status).toBe(403)
    }
  })

  test('a run gets the login of its namespace, or else of its user, for this host only', async () => {
    const { gitLogin } = platform.parts
    await set(owner!, 'user', host, { user: 'ann', password: 'own' })
    await set(owner!, scope, 'other.example.com:8443', { user: 'x', password: 'other' })
    expect(await gitLogin(owner!.id, ns, host)).toEqual({ user: 'bot', password: 'canary' })
    expect(await gitLogin(owner!.id, owner!.home, host)).toEqual({ user: 'ann', password: 'own' })
    expect(await gitLogin(owner!.id, ns, 'other.example.com:8443')).toEqual({ user: 'x', password: 'other' })
    for (const wrong of ['other.example.com', 'example.com', 'git.example.com.evil.example', '', '../x'])
      expect(await gitLogin(owner!.id, ns, wrong)).toBeUndefined()
    expect(await gitLogin(owner!.id, `none-${RUN}`, host)).toBeUndefined()
    expect((await remove(owner!, scope)).status).toBe(204)
    expect((await remove(owner!, scope)).error.code).toBe('platform/no-credential')
    expect(await gitLogin(owner!.id, ns, host)).toEqual({ user: 'ann', password: 'own' })
  })

  test('invalid hosts, users and passwords are refused', async () => {
    const code = async (of: string, body: object = good) => (await set(owner!, 'user', of, body)).error.code
    for (const wrong of ['Git.example.com', 'a_b', '-a', 'a:0', 'a@b']) expect(await code(wrong)).toBe('platform/host')
    for (const body of [
      { user: 'a\nhost=evil.example', password: 'x' },
      { user: 'a', password: 'x\npassword=y' },
      { user: 'a\u202e', password: 'x' },
    ])
      expect(await code(host, body)).toBe('platform/value')
    expect(await code(host, { user: 'a', password: '' })).toBe('platform/request')
  })
})
