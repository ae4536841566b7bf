import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv, type AnySchema } from 'ajv'
import { expect, test } from 'vitest'
import type { ApiRoute } from '../../../../platform/api/route.ts'
import { ROUTES, type RouteName } from '../../../../platform/api/routes.ts'
import type { CallInput } from '../../../../platform/client/client.ts'
import { root } from '../../../support/cases.ts'
import type { Sample, SampleCall } from '../../../support/platform/web-samples/sample.ts'
import { createSamplePlatform } from '../../../support/platform/web-samples/sample-platform.ts'
import { SAMPLES } from '../../../support/platform/web-samples/samples.ts'
import { makeTeam, type SampleTeam } from '../../../support/platform/web-samples/team.ts'

const NOW = Date.UTC(2026, 10, 23, 12)

/** Requests by route; a route without parameters and body needs none. */
type Requests = { readonly [N in RouteName]?: readonly CallInput<N>[] }

/** Returns a request for each thing that a team has. */
function readsOf({ namespaces, environments, runs }: SampleTeam): Requests {
  const spaces = namespaces.map(({ name: ns }) => ({ params: { ns } }))
  const found = [...environments].flatMap(([ns, all]) => all.map(one => ({ params: { ns, env: one.name }, one })))
  const services = found.flatMap(({ params, one }) =>
    one.services.map(({ name: service }) => ({ params: { ...params, service } })),
  )
  const ids = runs.map(({ id }) => ({ params: { id } }))
  const scopes = ['user', ...namespaces.map(({ name }) => `namespace:${name}`)].map(scope => ({ params: { scope } }))
  return {
    'GET /namespaces/:ns': spaces,
    'GET /namespaces/:ns/limits': spaces,
    'GET /namespaces/:ns/environments': spaces,
    'GET /namespaces/:ns/live': spaces,
    'GET /namespaces/:ns/logs': services.map(({ params: { ns, env, service } }) => ({
      params: { ns },
      query: { environment: env, service, tail: '500' },
    })),
    'GET /environments': [{ query: { namespaces: namespaces.map(({ name }) => name).join(',') } }],
    'GET /namespaces/:ns/environments/:env': found.map(({ params }) => ({ params })),
    'GET /namespaces/:ns/environments/:env/history': found.map(({ params }) => ({ params })),
    'GET /namespaces/:ns/environments/:env/services/:service/events': services,
    'GET /namespaces/:ns/environments/:env/services/:service/settings': services,
    'GET /runs': [{ query: {} }, { query: { namespace: 'shop', environment: 'shop', last: '1' } }],
    'GET /runs/:id': ids,
    'GET /runs/:id/log': ids,
    'GET /previews': [{ query: { urls: 'true' } }, { query: { label: 'checkout' } }],
    'GET /variables/:scope': [...scopes, { params: { scope: 'admin' } }],
    'GET /credentials/:scope': scopes,
  }
}

const REPOSITORY = 'https://git.example.com/team/news'
const LOGIN = { user: 'ann', password: 'a-password' }

/** Returns the changes that pages make, in an order in which each of them is possible. */
function changesOf({ users, runs, hooks, tokens }: SampleTeam): Requests {
  const bob = users[1]!.id
  const ns = { ns: 'news' }
  return {
    'POST /namespaces': [{ body: { name: ns.ns } }],
    'PATCH /namespaces/:ns': [{ params: { ns: 'shop' }, body: { isPersistent: false } }],
    'PUT /namespaces/:ns/members/:user': [{ params: { ...ns, user: bob }, body: { role: 'viewer' } }],
    'POST /namespaces/:ns/sleep': [{ params: { ns: 'shop' } }],
    'POST /namespaces/:ns/wake': [{ params: { ns: 'shop' } }, { params: { ns: 'docs' } }],
    'POST /runs': [
      {
        body: {
          ...{ namespace: 'news', environment: 'news', action: 'deploy' },
          repository: REPOSITORY,
          branch: 'main',
        },
      },
      {
        body: {
          ...{ namespace: 'shop', environment: 'shop', action: 'deploy' },
          cloneLogin: LOGIN,
          variables: { A: '1' },
        },
      },
    ],
    'POST /runs/:id/cancel': runs.map(({ id }) => ({ params: { id } })),
    'POST /previews': [
      { body: { repository: REPOSITORY, branch: 'Feature/a_b', cloneLogin: LOGIN, variables: { A: '1' } } },
      { body: { repository: REPOSITORY, name: 'news-main', scope: 'global', file: 'compose.yaml' } },
    ],
    'POST /previews/:name/approve': [{ params: { name: 'shop-pr-8' }, body: { commit: '6dcb09b' } }],
    'POST /hooks': [
      { body: { repository: REPOSITORY, token: 'a-token' } },
      { body: { repository: REPOSITORY, token: 'a-token', create: true, forge: 'github', prefix: 'news-' } },
    ],
    'PATCH /variables/:scope': [{ params: { scope: 'user' }, body: { variables: { DEBUG: null, GREETING: 'hello' } } }],
    'PUT /variables/:scope/:name': [{ params: { scope: 'namespace:news', name: 'A' }, body: { value: '1' } }],
    'DELETE /variables/:scope/:name': [{ params: { scope: 'namespace:shop', name: 'GREETING' } }],
    'PUT /credentials/:scope/:host': [{ params: { scope: 'user', host: 'github.com' }, body: LOGIN }],
    'DELETE /credentials/:scope/:host': [{ params: { scope: 'user', host: 'git.example.com' } }],
    'PATCH /admin/users/:user': [{ params: { user: bob }, body: { isSuspended: true } }],
    'POST /me/tokens': [{ body: { label: 'tests' } }, { body: { label: 'more tests', days: 7 } }],
    'DELETE /me/tokens/:id': [{ params: { id: tokens[1]!.id } }],
    'POST /auth/setup': [{ body: { token: 'a-token', login: 'ann' } }],
    'POST /auth/claim': [{ body: { token: 'a-token' } }],
    'POST /auth/cli/code': [{ body: { challenge: 'a'.repeat(43), label: 'ann@laptop' } }],
    'POST /auth/device/look': [{ body: { code: 'ABCD-EFGH' } }],
    'POST /auth/device/answer': [{ body: { code: 'ABCD-EFGH', isAllowed: true } }],
    'DELETE /namespaces/:ns/members/:user': [{ params: { ns: 'shop', user: bob } }],
    'DELETE /hooks/:id': [{ params: { id: hooks[0]!.id } }],
    'DELETE /previews/:name': [{ params: { name: 'shop-pr-7' }, query: {} }],
    'DELETE /namespaces/:ns': [{ params: { ns: 'ann' }, query: {} }],
    'POST /auth/logout': [{}],
  }
}

const ajv = new Ajv({ strict: false })

/** Returns the reasons why a schema refuses a value; none without a schema. */
function faults(schema: AnySchema | undefined, value: unknown): readonly string[] {
  if (schema === undefined || ajv.validate(schema, value)) return []
  return (ajv.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}: ${JSON.stringify(value)}`)
}

/** Returns the events of a stream that it has without waiting for anything. */
async function eventsOf(events: AsyncIterable<{ readonly data: unknown }>): Promise<readonly unknown[]> {
  const found: unknown[] = []
  const iterator = events[Symbol.asyncIterator]()
  for (;;) {
    const next = iterator.next()
    const one = await Promise.race([next, new Promise<undefined>(resolve => setImmediate(resolve, undefined))])
    if (!one || one.done) {
      next.catch(() => {})
      return found
    }
    found.push(one.value.data)
  }
}

const samples = Object.entries(SAMPLES) as unknown as readonly (readonly [RouteName, Sample<RouteName>])[]

/** Calls samples with all of their requests, and returns the reasons why schemas of their routes refuse something. */
async function faultsOf(names: readonly RouteName[], requests: Requests, team: SampleTeam): Promise<readonly string[]> {
  const found: string[] = []
  for (const name of names) {
    const { params, query, body, reply, events }: ApiRoute = ROUTES[name]
    const note = (all: readonly string[]) => found.push(...all.map(one => `${name}: ${one}`))
    const inputs = requests[name] ?? (params || query || body ? [] : [{}])
    if (inputs.length === 0) note(['the test has no request'])
    for (const input of inputs as readonly Partial<SampleCall<RouteName>>[]) {
      note([...faults(params, input.params), ...faults(query, input.query), ...faults(body, input.body)])
      const end = new AbortController()
      // The requests are typed by the route.
      const call = { ...input, team, signal: end.signal } as SampleCall<RouteName>
      const answer: unknown = (SAMPLES[name] as Sample<RouteName>)(call)
      const values = events ? await eventsOf(answer as AsyncIterable<{ data: unknown }>) : [answer]
      end.abort()
      if (values.length === 0) note(['no event'])
      // JSON leaves out properties that are undefined, as in a response.
      for (const value of values) note(faults(reply ?? events, value && JSON.parse(JSON.stringify(value))))
    }
  }
  return found
}

const reads = samples.map(([name]) => name).filter(name => name.startsWith('GET '))

test('every reply and every event of the samples is accepted by the schema of its route', async () => {
  const team = makeTeam(NOW)
  expect(await faultsOf(reads, readsOf(team), team)).toEqual([])
})

test('every change of a page is accepted, and what is read after it, too', async () => {
  const team = makeTeam(NOW)
  const changes = changesOf(team)
  const names = Object.keys(changes) as readonly RouteName[]
  const without = samples.map(([name]) => name).filter(name => !reads.includes(name) && !names.includes(name))
  expect(without).toEqual([])
  expect(await faultsOf(names, changes, team)).toEqual([])
  expect(team.isLoggedIn).toBe(false)
  team.isLoggedIn = true
  expect(await faultsOf(reads, readsOf(team), team)).toEqual([])
  expect(team.namespaces.map(({ name }) => name)).toEqual(['docs', 'shop', 'news', 'news-feature-a-b', 'news-main'])
})

test('every route that a page calls has a sample', () => {
  const web = join(root, 'platform/web')
  const texts = readdirSync(web, { recursive: true, encoding: 'utf8' })
    .filter(path => /\.tsx?$/.test(path))
    .map(path => readFileSync(join(web, path), 'utf8'))
  const called = new Set(texts.flatMap(text => text.match(/(?<=')(?:GET|POST|PUT|PATCH|DELETE) \/[^']*(?=')/g) ?? []))
  expect(called.size).toBeGreaterThan(40)
  expect([...called].filter(name => !Object.hasOwn(SAMPLES, name))).toEqual([])
})

test('a route without a sample answers with an error that names the route', async () => {
  const app = createSamplePlatform(makeTeam(NOW))
  const answer = await app.inject({ method: 'POST', url: '/api/v1/kube-token' })
  expect(answer.statusCode).toBe(404)
  expect(answer.json()).toEqual({
    code: 'platform/no-sample',
    message: 'there is no sample data for `POST /kube-token`',
    hint: expect.stringContaining("add `'POST /kube-token': () => …` to the samples in `test/support/"),
  })
  await app.close()
})

test('the sample platform refuses as the platform does, and logs in again with its provider', async () => {
  const app = createSamplePlatform(makeTeam(NOW))
  const get = async (url: string) => {
    const { statusCode, body } = await app.inject(url)
    return [statusCode, JSON.parse(body).code]
  }
  expect(await get('/api/v1/namespaces/none')).toEqual([404, 'platform/no-namespace'])
  expect(await get('/api/v1/namespaces/none/live')).toEqual([404, 'platform/no-namespace'])
  expect(await get('/api/v1/runs/none')).toEqual([400, 'platform/request'])
  expect(await get('/api/v1/none')).toEqual([404, 'platform/no-route'])
  expect((await app.inject({ method: 'POST', url: '/api/v1/auth/logout' })).statusCode).toBe(204)
  expect(await get('/api/v1/me')).toEqual([401, 'platform/login'])
  const login = await app.inject('/login/example?to=%2Fpreviews')
  expect([login.statusCode, login.headers.location]).toEqual([303, '/previews'])
  expect(await get('/api/v1/me')).toEqual([200, undefined])
  await app.close()
})
