import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { jobRef } from '../../../platform/records/run.ts'
import { createServices } from '../../../platform/server/create-services.ts'
import { eventually } from '../../support/cluster/cluster.ts'
import { openPlatform, type Person, type TestPlatform } from '../../support/platform/open-platform.ts'
import { RUN } from '../../support/platform/run-name.ts'

// Tests previews with a real API server: their namespaces and runs, and who may create, read and delete them.

describe.skipIf(!process.env.KUBECONFIG)('previews', () => {
  let platform: TestPlatform
  let [admin, other, owner, stranger]: Person[] = []
  const repository = 'https://git.example.com/team/shop'
  let number = 0
  /** A name that no other test has. */
  const aName = () => `p${++number}-${RUN}`

  beforeAll(async () => {
    platform = await openPlatform({ previewsPerUser: 20 })
    ;[admin, other, owner, stranger] = await platform.people(
      ['admin', 'admin'],
      ['other', 'admin'],
      'owner',
      'stranger',
    )
  })
  afterEach(() => {
    platform.later = 0
  })
  afterAll(() => platform?.close())

  const deploy = (person: Person | undefined, body: object) =>
    platform.call('POST /previews', { token: person!.token, body: { repository, ...body } })
  const statuses = async (
    people: readonly (Person | undefined)[],
    call: (token: string) => Promise<{ status: number }>,
  ) => {
    const all: number[] = []
    for (const one of people) all.push((await call(one!.token)).status)
    return all
  }

  test('a deploy of a preview creates a namespace with a run of the branch in it', async () => {
    const name = aName()
    const sourceUrl = 'https://git.example.com/team/shop/pulls/7'
    const variables = { SECRET: 'canary-cHJldmlldw' }
    const { status, body } = await deploy(owner, { name, branch: 'feature/x', sourceUrl, labels: ['a'], variables })
    expect([status, body]).toEqual([
      200,
      expect.objectContaining({ name, status: 'Deploying', scope: 'personal', role: 'owner', repository, sourceUrl }),
    ])
    expect(body.run).toMatchObject({ namespace: name, environment: 'shop', branch: 'feature/x', state: 'queued' })
    expect(JSON.stringify(body)).not.toContain('canary')
    const live = await platform.cluster.get({ apiVersion: 'v1', kind: 'Namespace', name })
    expect(live?.metadata.labels).toMatchObject({ 'dev.platform/record': 'preview', 'dev.platform/scope': 'personal' })
    const policies = await platform.cluster.list({
      apiVersion: 'networking.k8s.io/v1',
      kind: 'NetworkPolicy',
      namespace: name,
    })
    expect(policies).not.toEqual([])

    // Another deploy is another run of the same preview; its description is replaced.
    const again = await deploy(owner, { name, repository: `${repository}.git`, branch: 'feature/y' })
    expect(again.body).toMatchObject({ name, branch: 'feature/y', labels: [], status: 'Deploying' })
    expect(again.body.sourceUrl).toBeUndefined()
    expect(again.body.run?.id).not.toBe(body.run?.id)
    const { body: list } = await platform.call('GET /previews', { token: owner!.token })
    expect(list.items.filter(one => one.name === name)).toHaveLength(1)
  })

  test('the default name of a preview consists of the repository and the branch', async () => {
    const branch = `feature/${RUN}-Login`
    const { body } = await deploy(owner, { branch })
    expect(body.name).toBe(`shop-feature-${RUN}-login`)
  })

  test('only its owner and administrators read a personal preview, and others may not delete it', async () => {
    const name = aName()
    await deploy(owner, { name, labels: ['red'] })
    const people = [admin, owner, stranger]
    const params = { name }
    expect(await statuses(people, token => platform.call('GET /previews/:name', { token, params }))).toEqual([
      200, 200, 404,
    ])
    const listed = async (person: Person | undefined, query = {}) =>
      (await platform.call('GET /previews', { token: person!.token, query })).body.items.map(one => one.name)
    expect(await listed(owner, { label: 'red' })).toEqual([name])
    expect(await listed(owner, { label: 'blue' })).toEqual([])
    expect(await listed(stranger)).not.toContain(name)
    expect(await listed(admin)).toContain(name)
    // A user who may see the preview learns its owner; the other one learns only that the name is taken.
    const [byAdmin, byStranger] = [await deploy(admin, { name }), await deploy(stranger, { name })]
    expect([byAdmin.status, byAdmin.error.message]).toEqual([
      409,
      `preview \`${name}\` belongs to owner-${RUN}, not to admin-${RUN}`,
    ])
    expect([byStranger.status, byStranger.error.message]).toEqual([409, `namespace \`${name}\` is taken`])
    const destroy = (token: string) => platform.call('DELETE /previews/:name', { token, params })
    expect(await statuses([stranger, owner], destroy)).toEqual([404, 204])
  })

  test('the list has the public URLs of a preview for callers who may see its routes', async () => {
    const name = aName()
    await deploy(owner, { name })
    const host = `web-${name}.dev.example.com`
    const rule = {
      host,
      http: { paths: [{ path: '/', pathType: 'Prefix', backend: { service: { name: 'web', port: { number: 80 } } } }] },
    }
    const ingress = (hosts: readonly string[]) => ({
      apiVersion: 'networking.k8s.io/v1',
      kind: 'Ingress',
      metadata: { name: 'web', namespace: name, labels: { 'dev.platform/environment': 'shop' } },
      spec: { tls: hosts.length === 0 ? [] : [{ hosts }], rules: [rule] },
    })
    const listed = async (person: Person | undefined, query: { urls?: 'true' } = { urls: 'true' }) =>
      (await platform.call('GET /previews', { token: person!.token, query })).body.items.find(one => one.name === name)
    await platform.cluster.apply(ingress([host]), { manager: 'test' })
    await eventually('the URL', async () => (await listed(owner))?.urls?.includes(`https://${host}`) || undefined)
    // The list omits URLs that are not requested, or that the caller may not see.
    expect(await listed(owner, {})).not.toHaveProperty('urls')
    expect(await listed(admin)).not.toHaveProperty('urls')
    // The list shows a change after a while, and immediately after a deploy.
    await platform.cluster.apply(ingress([]), { manager: 'test', force: true })
    expect((await listed(owner))?.urls).toEqual([`https://${host}`])
    await deploy(owner, { name })
    expect((await listed(owner))?.urls).toEqual([`http://${host}`])
  })

  test('a deploy with another repository or scope is a conflict that names both', async () => {
    const name = aName()
    await deploy(admin, { name })
    const elsewhere = 'https://git.example.com/team/blog'
    expect((await deploy(admin, { name, repository: elsewhere })).error.message).toBe(
      `preview \`${name}\` is for ${repository}, not for ${elsewhere}`,
    )
    expect((await deploy(admin, { name, scope: 'global' })).error.message).toBe(
      `preview \`${name}\` has the scope \`personal\`, not \`global\``,
    )
    const { home } = owner!
    expect((await deploy(owner, { name: home })).error.message).toBe(`namespace \`${home}\` is taken`)
  })

  test('administrators deploy and delete a global preview, and all users see what runs in it', async () => {
    const name = aName()
    expect((await deploy(owner, { name, scope: 'global' })).error.message).toContain('only an administrator may')
    expect((await deploy(admin, { name, scope: 'global' })).status).toBe(200)
    expect((await deploy(other, { name, scope: 'global' })).status).toBe(200)
    const params = { name }
    const people = [admin, other, owner, stranger]
    expect(await statuses(people, token => platform.call('GET /previews/:name', { token, params }))).toEqual([
      200, 200, 200, 200,
    ])
    // Its contents change only by runs, and only administrators may start these.
    const body = { namespace: name, environment: 'shop', action: 'deploy', repository }
    expect(await statuses(people, token => platform.call('POST /runs', { token, body }))).toEqual([200, 200, 403, 403])
    const may = async (person: Person | undefined, verb: string, resource: string) => {
      const user = `system:serviceaccount:devctl-users:u-${person!.id}`
      const groups = ['system:serviceaccounts', 'system:serviceaccounts:devctl-users', 'system:authenticated']
      const resourceAttributes = { namespace: name, verb, resource }
      const review = await platform.cluster.create({
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SubjectAccessReview',
        metadata: {} as never,
        spec: { user, groups, resourceAttributes },
      })
      return (review['status'] as { readonly allowed: boolean }).allowed
    }
    await eventually('a stranger sees Pods', async () => (await may(stranger, 'list', 'pods')) || undefined)
    for (const one of [stranger, admin])
      for (const [verb, resource] of [
        ['get', 'secrets'],
        ['create', 'pods'],
        ['delete', 'services'],
      ] as const)
        expect(await may(one, verb, resource), `${verb} ${resource}`).toBe(false)
    const query = { namespace: name }
    expect(
      (await platform.call('GET /namespaces/:ns', { token: stranger!.token, params: { ns: name } })).body,
    ).toMatchObject({ role: 'viewer', members: [] })
    expect((await platform.call('GET /runs', { token: stranger!.token, query })).body.items).not.toEqual([])
    for (const route of ['DELETE /previews/:name', 'DELETE /namespaces/:ns'] as const)
      expect((await platform.call(route, { token: owner!.token, params: { name, ns: name } })).status).toBe(403)
    // A former administrator has no more access to it than other users.
    await platform.call('PATCH /admin/users/:user', {
      token: other!.token,
      params: { user: admin!.id },
      body: { role: 'developer' },
    })
    expect((await deploy(admin, { name, scope: 'global' })).status).toBe(403)
    expect((await platform.call('DELETE /previews/:name', { token: admin!.token, params })).status).toBe(403)
    await platform.call('PATCH /admin/users/:user', {
      token: other!.token,
      params: { user: admin!.id },
      body: { role: 'admin' },
    })
    expect((await platform.call('DELETE /previews/:name', { token: other!.token, params })).status).toBe(204)
  })

  test.each<readonly [object, string]>([
    [{ name: 'kube-x' }, 'it is reserved'],
    [{ repository: 'https://ann:secret@git.example.com/x' }, 'a user or a password'],
    [{ branch: '--upload-pack=x' }, 'not a valid name of a branch'],
    [{ file: '../../etc/passwd' }, 'it leads out of the repository'],
    [{ sourceUrl: 'javascript:alert(1)' }, 'does not begin with `https://`'],
    [{ sourceUrl: 'https://ann:secret@git.example.com/x' }, 'a user or a password'],
    [{ labels: ['a,b'] }, 'is not valid'],
    [{ scope: 'all' }, 'is not valid'],
  ])('a preview with %j is refused, and creates no namespace', async (more, why) => {
    const name = aName()
    const { status, error } = await deploy(owner, { name, ...more })
    expect([status, error.message]).toEqual([400, expect.stringContaining(why)])
    expect(await platform.cluster.get({ apiVersion: 'v1', kind: 'Namespace', name })).toBeUndefined()
  })

  test('two concurrent deploys create one preview', async () => {
    const name = aName()
    const both = await Promise.all([deploy(owner, { name }), deploy(owner, { name })])
    expect(both.map(({ status, error }) => [status, error.message])).toEqual([
      [200, undefined],
      [200, undefined],
    ])
  })

  test('a deploy that is refused deletes no preview that another one deploys', async () => {
    const busy = await platform.person('busy')
    const [waiting, name, late] = [aName(), aName(), aName()]
    const user = (await platform.parts.users.find(busy.id))!
    expect((await deploy(busy, { name: waiting })).status).toBe(200)
    const more = Array.from({ length: 18 }, () =>
      platform.parts.runs.create(user, { namespace: waiting, environment: 'shop', action: 'deploy', repository }),
    )
    await Promise.all(more)
    // One more run may wait, so one of two concurrent deploys is refused.
    const both = await Promise.all([deploy(busy, { name }), deploy(busy, { name })])
    expect(both.map(({ status }) => status).sort()).toEqual([200, 429])
    const find = (one: string) => platform.cluster.get({ apiVersion: 'v1', kind: 'Namespace', name: one })
    expect((await find(name))?.metadata.deletionTimestamp).toBeUndefined()
    expect(await platform.parts.runs.list({ namespace: name })).toHaveLength(1)
    // A namespace that only the refused job has created is deleted with it.
    expect((await deploy(busy, { name: late })).status).toBe(429)
    await eventually(`${late} is gone`, async () => ((await find(late)) ? undefined : true))
  })

  test('concurrent requests start no more runs than may wait', async () => {
    const keen = await platform.person('keen')
    const body = { namespace: keen.home, environment: 'shop', action: 'deploy', repository }
    const all = await Promise.all(
      Array.from({ length: 25 }, () => platform.call('POST /runs', { token: keen.token, body })),
    )
    const made = all.filter(({ status }) => status === 200)
    expect([made.length, new Set(all.map(({ status }) => status))]).toEqual([20, new Set([200, 429])])
    for (const { body } of made) await platform.cluster.delete(jobRef(body.id), { propagation: 'Background' })
  })

  test('a user has no more previews than the limit', async () => {
    const { world } = platform
    const parts = createServices({ ...world, settings: { ...world.settings, previewsPerUser: 1 } })
    const some = await platform.person('some')
    const user = (await parts.users.find(some.id))!
    const token = (await parts.tokens.check(some.token))!
    const make = (name: string) => parts.previews.deploy({ user, token }, { name, repository })
    const first = aName()
    await make(first)
    await make(first)
    await expect(make(aName())).rejects.toThrow('you have 1 previews, which is the limit')
  })

  test('the log of a run is available only by its own preview', async () => {
    const [one, two] = [aName(), aName()]
    const { body } = await deploy(owner, { name: one })
    await deploy(owner, { name: two })
    const id = body.run!.id
    await platform.call('POST /runs/:id/cancel', { token: owner!.token, params: { id } })
    await platform.cluster.patch(
      jobRef(id),
      { metadata: { labels: { 'dev.platform/live': null } } },
      { manager: 'test' },
    )
    const log = async (person: Person | undefined, name: string) => {
      const headers = { authorization: `Bearer ${person!.token}` }
      return platform.app.inject({ method: 'GET', url: `/api/v1/previews/${name}/runs/${id}/log`, headers })
    }
    expect((await log(owner, one)).body).toContain('"state":"cancelled"')
    expect((await log(owner, two)).statusCode).toBe(404)
    expect((await log(stranger, one)).statusCode).toBe(404)
  })
})
