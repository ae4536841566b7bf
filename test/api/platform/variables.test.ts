import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ApiRoute } from '../../../platform/api/route.ts'
import { ROUTES, type RouteName } from '../../../platform/api/routes.ts'
import { eventually } from '../../support/cluster/cluster.ts'
import { openPlatform, type Person, type TestPlatform } from '../../support/platform/open-platform.ts'
import { RUN } from '../../support/platform/run-name.ts'
import { few, longTest } from '../../support/takes-all.ts'

// Tests variables with a real API server: permissions to set and use them, and that no other response has a value.

describe.skipIf(!process.env.KUBECONFIG)('variables', () => {
  let platform: TestPlatform
  let [admin, owner, developer, viewer, stranger]: Person[] = []
  const ns = `vars-${RUN}`
  const scope = `namespace:${ns}`

  beforeAll(async () => {
    platform = await openPlatform()
    ;[admin, owner, developer, viewer, stranger] = await platform.people(
      ['admin', 'admin'],
      'owner',
      'developer',
      'viewer',
      'stranger',
    )
    await create(ns)
    for (const [person, role] of [
      [developer, 'developer'],
      [viewer, 'viewer'],
    ] as const) {
      const params = { ns, user: person.id }
      await platform.call('PUT /namespaces/:ns/members/:user', { token: owner.token, params, body: { role } })
    }
  })
  afterAll(async () => {
    await platform.call('PATCH /variables/:scope', {
      token: admin!.token,
      params: { scope: 'admin' },
      body: { variables: { [`ALL_${RUN}`]: null, [`BOTH_${RUN}`]: null, [`OLD_${RUN}`]: null } },
    })
    await platform?.close()
  })

  const create = async (name: string, by = owner!) =>
    expect((await platform.call('POST /namespaces', { token: by.token, body: { name } })).status).toBe(200)
  const set = (by: Person | string, scope: string, name: string, value = 'x') =>
    platform.call('PUT /variables/:scope/:name', {
      token: typeof by === 'string' ? by : by.token,
      params: { scope, name },
      body: { value },
    })
  const names = async (by: Person, scope: string) => {
    const { body } = await platform.call('GET /variables/:scope', { token: by.token, params: { scope } })
    return body.items.map(one => one.name)
  }
  const effective = (token: string, of = ns) =>
    platform.call('GET /namespaces/:ns/variables/effective', { token, params: { ns: of } })
  const values = async (by: Person, of = ns) => {
    const { body } = await effective(by.token, of)
    const own = body.variables.filter(({ name }) => name.endsWith(RUN))
    return Object.fromEntries(own.map(({ name, value }) => [name, value]))
  }
  const people = () => [admin!, owner!, developer!, viewer!, stranger!]
  const statuses = (work: (person: Person) => Promise<{ readonly status: number }>) =>
    Promise.all(people().map(async person => (await work(person)).status))

  test.each([
    // admin, owner, developer, viewer, stranger
    ['admin', { see: [200, 200, 200, 200, 200], change: [204, 403, 403, 403, 403] }],
    ['user', { see: [200, 200, 200, 200, 200], change: [204, 204, 204, 204, 204] }],
    [scope, { see: [403, 200, 200, 403, 404], change: [403, 204, 204, 403, 404] }],
    [`namespace:none-${RUN}`, { see: [404, 404, 404, 404, 404], change: [404, 404, 404, 404, 404] }],
  ])('the scope `%s` decides which roles may read and change its variables', async (scope, { see, change }) => {
    const name = `ALL_${RUN}`
    const params = { scope, name }
    const get = ({ token }: Person) => platform.call('GET /variables/:scope', { token, params })
    const patch = ({ token }: Person) =>
      platform.call('PATCH /variables/:scope', { token, params, body: { variables: { [name]: 'x' } } })
    const remove = ({ token }: Person) => platform.call('DELETE /variables/:scope/:name', { token, params })
    expect(await statuses(get)).toEqual(see)
    expect(await statuses(person => set(person, scope, name))).toEqual(change)
    expect(await statuses(patch)).toEqual(change)
    for (const [index, person] of people().entries()) {
      const { status } = await remove(person)
      // The first user with the right has deleted it for all users of a scope.
      expect([change[index], 404]).toContain(status)
      if (change[index] !== 204) expect(status).toBe(change[index])
    }
  })

  test('the total length of the values may be larger than the limit of other requests', async () => {
    const ns = `long-${RUN}`
    await create(ns)
    const variables = Object.fromEntries([1, 2, 3, 4, 5].map(at => [`LONG_${at}_${RUN}`, 'x'.repeat(15_000)]))
    const params = { scope: `namespace:${ns}` }
    const { status } = await platform.call('PATCH /variables/:scope', {
      token: owner!.token,
      params,
      body: { variables },
    })
    expect(status).toBe(204)
    expect(await values(owner!, ns)).toMatchObject(variables)
    // A request without a login has a smaller limit.
    const text = 'x'.repeat(70_000)
    expect((await platform.call('POST /auth/setup', { body: { token: text, login: 'x' } })).status).toBe(413)
    const body = { variables: { X: 'x'.repeat(600_000) } }
    expect((await platform.call('PATCH /variables/:scope', { token: owner!.token, params, body })).status).toBe(413)
  })

  test('only users who may deploy get the values', async () => {
    expect(await statuses(({ token }) => effective(token))).toEqual([403, 200, 200, 403, 404])
  })

  test('variables of a namespace override those of a user, which override those of everyone', async () => {
    const name = `BOTH_${RUN}`
    await set(admin!, 'admin', name, 'of everybody')
    await set(owner!, 'user', name, 'of the owner')
    await set(developer!, 'user', `OWN_${RUN}`, 'of the developer')
    expect(await values(owner!)).toEqual({ [name]: 'of the owner' })
    expect(await values(developer!)).toEqual({ [name]: 'of everybody', [`OWN_${RUN}`]: 'of the developer' })
    await set(developer!, scope, name, 'of the namespace: ü\n"')
    for (const person of [owner!, developer!]) expect((await values(person))[name]).toBe('of the namespace: ü\n"')
    // Another namespace has no variables of this one.
    expect(await values(owner!, owner!.home)).toEqual({ [name]: 'of the owner' })
    await platform.call('DELETE /variables/:scope/:name', { token: owner!.token, params: { scope, name } })
    expect(await values(owner!)).toEqual({ [name]: 'of the owner' })
  })

  test('the token of a run gets the variables of its namespace only, and changes none', async () => {
    const issue = async (kind: 'run' | 'ci') =>
      (
        await platform.parts.tokens.issue({
          kind,
          label: kind,
          user: owner!.id,
          ...(kind === 'ci' ? { prefix: 'shop-' } : { namespaces: [ns] }),
        })
      ).text
    const run = await issue('run')
    expect((await effective(run)).status).toBe(200)
    expect((await effective(run, owner!.home)).status).toBe(404)
    for (const token of [run, await issue('ci')])
      for (const of of ['user', 'admin', scope]) {
        expect((await set(token, of, 'X')).status).toBe(403)
        expect((await platform.call('GET /variables/:scope', { token, params: { scope: of } })).status).toBe(403)
      }
  })

  test('invalid names and values are refused', async () => {
    const refused = async (name: string, value?: string) => (await set(owner!, scope, name, value)).error.code
    for (const name of ['NODE_OPTIONS', 'PATH', '1', 'a-b', 'DEVCTL_TOKEN'])
      expect(await refused(name)).toBe('platform/name')
    expect(await refused('A', 'a\0b')).toBe('platform/value')
    expect(await refused('A', 'ü'.repeat(8193))).toBe('platform/value')
    expect(await refused('A', 'x'.repeat(16 * 1024 + 1))).toBe('platform/request')
    for (const bad of ['PATH', 'A'.repeat(101)]) {
      const body = { variables: { GOOD: 'x', [bad]: 'y' } }
      const answer = await platform.call('PATCH /variables/:scope', { token: owner!.token, params: { scope }, body })
      expect(answer.error.code).toBe('platform/name')
    }
    expect(await names(owner!, scope)).not.toContain('GOOD')
    expect((await set(owner!, 'namespace:..admin', 'A')).error.code).toBe('platform/request')
  })

  longTest('the number and the total size of variables are limited', async () => {
    const owner = await platform.person('lots')
    await create(`many-${RUN}`, owner)
    const many = `namespace:many-${RUN}`
    const all = (variables: Readonly<Record<string, string | null>>) =>
      platform.call('PATCH /variables/:scope', { token: owner.token, params: { scope: many }, body: { variables } })
    const numbered = (count: number, value: string | null) =>
      Object.fromEntries([...Array(count).keys()].map(number => [`V${number}`, value]))
    expect((await all(numbered(100, 'x'))).status).toBe(204)
    expect((await set(owner, many, 'MORE')).error.code).toBe('platform/quota')
    expect((await set(owner, many, 'V1', 'another')).status).toBe(204)
    expect((await all({ MORE: 'x', V1: null })).status).toBe(204)
    expect((await all(numbered(99, null))).status).toBe(204)
    const big = 'x'.repeat(15_000)
    const codes: (string | undefined)[] = []
    for (let number = 0; number < 16; number++) codes.push((await set(owner, many, `B${number}`, big)).error?.code)
    expect(codes.filter(code => code === 'platform/quota').length).toBeGreaterThan(0)
    expect(codes.slice(0, 5)).toEqual(Array(5).fill(undefined))
  })

  test('concurrent changes of variables are all kept', async () => {
    const owner = await platform.person('rush')
    await create(`busy-${RUN}`, owner)
    const busy = `namespace:busy-${RUN}`
    const all = [...Array(20).keys()].map(number => `V${number}`)
    const answers = await Promise.all(all.map(name => set(owner, busy, name, name)))
    expect(answers.map(({ status }) => status)).toEqual(all.map(() => 204))
    expect((await names(owner, busy)).sort()).toEqual([...all].sort())
  })

  test('a new namespace has no variables of an earlier one, whose record is deleted', async () => {
    const owner = await platform.person('twice')
    const again = `again-${RUN}`
    await create(again, owner)
    await set(owner, `namespace:${again}`, `FIRST_${RUN}`, 'secret')
    const records = async () =>
      (
        await platform.cluster.list({
          apiVersion: 'v1',
          kind: 'Secret',
          namespace: 'devctl-users',
          labels: 'dev.platform/record=variables',
        })
      ).filter(one => one.metadata.ownerReferences?.some(({ name }) => name === again))
    expect(await records()).toHaveLength(1)
    await platform.call('DELETE /namespaces/:ns', { token: owner.token, params: { ns: again } })
    await eventually('the namespace is gone', async () =>
      (await platform.cluster.get({ apiVersion: 'v1', kind: 'Namespace', name: again })) ? undefined : true,
    )
    await create(again, stranger)
    expect(await names(stranger!, `namespace:${again}`)).toEqual([])
    expect(await values(stranger!, again)).not.toHaveProperty(`FIRST_${RUN}`)
    await eventually('its record is gone', async () => ((await records()).length === 0 ? true : undefined), {
      seconds: 270,
    })
  })

  test('entries that were moved or changed by others are not used, and are named', async () => {
    const owner = await platform.person('thief')
    const [from, to] = [`from-${RUN}`, `to-${RUN}`]
    await create(from, owner)
    await create(to, owner)
    await set(owner, `namespace:${from}`, `A_${RUN}`, 'canary-moved')
    await set(owner, `namespace:${to}`, `B_${RUN}`, 'good')
    const recordOf = async (name: string) => {
      const { metadata } = (await platform.cluster.get({ apiVersion: 'v1', kind: 'Namespace', name }))!
      const ref = { apiVersion: 'v1', kind: 'Secret', name: `variables-n-${metadata.uid}`, namespace: 'devctl-users' }
      return { ref, data: (await platform.cluster.get(ref))!['data'] as Readonly<Record<string, string>> }
    }
    const [source, target] = [await recordOf(from), await recordOf(to)]
    const entry = source.data[`A_${RUN}`]!
    expect(Buffer.from(JSON.stringify(source.data), 'latin1').toString()).not.toContain('canary')
    const data = {
      [`A_${RUN}`]: entry,
      [`C_${RUN}`]: target.data[`B_${RUN}`],
      BAD: Buffer.from('{').toString('base64'),
      NODE_OPTIONS: entry,
    }
    await platform.cluster.patch(target.ref, { data }, { manager: 'thief' })
    const { status, body } = await effective(owner.token, to)
    expect(status).toBe(200)
    expect(await values(owner, to)).toMatchObject({ [`B_${RUN}`]: 'good' })
    expect(await values(owner, to)).not.toHaveProperty(`A_${RUN}`)
    expect(body.unreadable.map(({ name }) => name).sort()).toEqual([`A_${RUN}`, `C_${RUN}`])
    expect(JSON.stringify(body)).not.toMatch(/canary|NODE_OPTIONS/)
  })

  test('only responses that are marked as secret contain values, and the audit has none', async () => {
    const canary = `canary-${RUN}`
    await set(owner!, scope, 'SECRET', canary)
    await set(owner!, 'user', 'SECRET', canary)
    await set(admin!, 'admin', `OLD_${RUN}`, canary)
    const params = { ns, scope, name: 'SECRET', user: owner!.id, id: 'a'.repeat(16) }
    const seen: string[] = []
    const bodies: readonly (readonly [string, object])[] = [
      [scope, { value: canary }],
      ['user', { variables: { SECRET: canary, 'not a name': canary } }],
      ['admin', {}],
    ]
    for (const [route, { isSecret, events }] of Object.entries(ROUTES) as readonly [RouteName, ApiRoute][]) {
      if (isSecret || events || route.startsWith('DELETE') || route === 'POST /auth/logout') continue
      for (const { token } of [admin!, owner!])
        for (const [of, body] of few(bodies, 2)) {
          const answer = await platform.call(route, {
            token,
            params: { ...params, scope: of },
            ...(!route.startsWith('GET') && { body }),
          })
          seen.push(`${route} ${answer.status} ${JSON.stringify(answer.body ?? null)}`)
        }
    }
    expect(seen.length).toBeGreaterThan(60)
    expect(seen.filter(line => line.includes(canary))).toEqual([])
    expect(JSON.stringify(platform.audit)).not.toContain(canary)
    expect((await effective(owner!.token)).body.variables).toContainEqual({ name: 'SECRET', value: canary, scope })
    expect(platform.audit.find(({ action }) => action === 'set variable')).toMatchObject({
      what: { name: `ALL_${RUN}` },
    })
  })
})
