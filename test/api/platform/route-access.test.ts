import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ApiRoute } from '../../../platform/api/route.ts'
import { ROUTES, type RouteName } from '../../../platform/api/routes.ts'
import type { NewToken } from '../../../platform/records/token.ts'
import { openPlatform, type Person, type TestPlatform } from '../../support/platform/open-platform.ts'
import { RUN } from '../../support/platform/run-name.ts'
import { openStubForge, type StubForge } from '../../support/platform/stub-forge.ts'

// Permissions of each route of the table, with real records, for every role that a caller can have in a namespace.

/**
 * A namespace has an owner, a developer and a viewer; the administrator is not a member. Programs have tokens (`api`).
 */
const CALLERS = [
  'nobody',
  'stranger',
  'viewer',
  'developer',
  'owner',
  'administrator',
  "owner's program",
  "administrator's program",
  'run of the namespace',
  'run of another namespace',
  'job of a CI',
] as const
type Caller = (typeof CALLERS)[number]

/**
 * The response: `+` allowed; `.` allowed, but the list does not contain it; `L` log in first (401); `N` not allowed
 * (403); `-` it does not exist, as far as the caller learns (404); `T` the name is taken (409).
 */
interface Row {
  /** Expected responses, in the order of CALLERS. */
  readonly may: string
  /** Difference between this request and that of the row before. */
  readonly what?: string
  /** Creates the request for each caller, with the records that it needs. */
  readonly ask?: () => Ask | Promise<Ask>
  /**
   * Error code that callers with permission get: the requested object does not exist here, but only they learn that.
   */
  readonly but?: string
  /** True if a list contains the object that the row is about. */
  readonly shows?: (body: never) => boolean
}
interface Ask {
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
  readonly body?: object
}

/** Routes whose callers are tested in another file. */
const ELSEWHERE: Partial<Record<RouteName, string>> = {
  'POST /auth/setup': 'logins.test.ts',
  'POST /auth/cli': 'logins.test.ts',
  'POST /auth/ci': 'ci.test.ts',
  'POST /auth/device': 'logins.test.ts',
  'POST /auth/device/poll': 'logins.test.ts',
  // The signature identifies the sender.
  'POST /hooks/:forge/:id': 'hooks.test.ts',
  // The forge says who may write to the repository.
  'POST /previews/:name/approve': 'hooks.test.ts',
  // Clients of the registry and Pods have other tokens.
  'GET /registry/token': 'registry.test.ts',
}

const repository = 'https://git.example.com/team/shop'
const FORGE_TOKEN = 'token-of-the-forge'
const [shop, rest, doomed] = [`shop-${RUN}`, `rest-${RUN}`, `doomed-${RUN}`]
const [preview, old] = [`preview-${RUN}`, `old-${RUN}`]
const ADMIN = 'L N N N N +  N N  N N N'
const PERSON = 'L + + + + +  N N  N N N'
const ANYBODY = 'L + + + + +  + +  N N N'
/** Actions in a namespace: its developers and its owner. */
const INSIDE = 'L - N + + N  + N  N N N'
/** Management of a namespace. */
const MANAGE = 'L - N N + +  + +  N N N'
const SEE = 'L - + + + +  + +  N N N'
const LISTED = 'L . + + + +  + +  N N N'
/** Objects that the API server shows to members only. */
const LOOK = 'L - + + + N  + N  N N N'
const OWN = 'L . . . + .  + .  N N N'
const OWN_ONLY = 'L - - - + -  + -  N N N'
/** Actions that runs need, too, in their own namespace. */
const FOR_RUNS = 'L - N + + N  + N  + - N'

let platform: TestPlatform
let forge: StubForge
let url: string
let owner: Person
let developer: Person
let viewer: Person
let stranger: Person
let guest: Person
let run: { readonly id: string }
let previewRun: { readonly id: string }
let hook: { readonly id: string }
/** Last namespace that was created for a transfer. */
let given = ''
let number = 0
const next = (word: string) => `${word}-${++number}-${RUN}`

async function asOwner<N extends RouteName>(name: N, more: Ask) {
  const answer = await platform.call(name, { token: owner.token, ...more })
  expect(answer.status, `${name}: ${answer.error?.message}`).toBeLessThan(300)
  return answer.body
}
const newRun = (environment = next('env')) =>
  asOwner('POST /runs', { body: { namespace: shop, environment, action: 'deploy', repository } })
const newHook = async () =>
  (await asOwner('POST /hooks', { body: { repository, token: FORGE_TOKEN, prefix: `${next('h')}-` } })).hook
const newCode = async () => ({ code: (await platform.parts.logins.ask('a laptop')).code })
const inShop = { params: { ns: shop } }
const ofShop = { scope: `namespace:${shop}` }
const service = { params: { ns: shop, env: 'none', service: 'web' } }
const value = { value: 'x' }
const login = { user: 'git', password: 'x' }
const host = 'git.example.com'
const named = (name: string) => (body: { readonly items: readonly { readonly name: string }[] }) =>
  body.items.some(one => one.name === name)

const TABLE: Partial<Record<RouteName, Row | readonly Row[]>> = {
  'GET /info': { may: '+ + + + + +  + +  + + +' },
  'POST /auth/claim': { may: PERSON, ask: () => ({ body: { token: 'used' } }), but: 'platform/link' },
  'POST /auth/cli/code': { may: PERSON, ask: () => ({ body: { challenge: 'a'.repeat(43), label: 'a laptop' } }) },
  'POST /auth/device/look': { may: PERSON, ask: async () => ({ body: await newCode() }) },
  'POST /auth/device/answer': { may: PERSON, ask: async () => ({ body: { ...(await newCode()), isAllowed: false } }) },
  'POST /auth/logout': { may: 'L + + + + +  + +  N N +' },
  'GET /me': { may: 'L + + + + +  + +  N N +' },
  'GET /me/tokens': {
    may: OWN,
    shows: ({ items }: { items: readonly { label: string }[] }) => items.some(one => one.label === 'of the owner'),
  },
  'POST /me/tokens': { may: PERSON, ask: () => ({ body: { label: 'new', days: 1 } }) },
  'DELETE /me/tokens/:id': {
    may: 'L - - - + -  N N  N N N',
    ask: async () => {
      const { record } = await platform.parts.tokens.issue({ kind: 'api', label: 'short', user: owner.id })
      return { params: { id: record.id } }
    },
  },
  // The token of a run counts while it runs: see `runs.test.ts`.
  'POST /kube-token': { may: 'L + + + + +  + +  L L N' },
  'GET /namespaces': { may: LISTED, shows: named(shop) },
  'POST /namespaces': { may: ANYBODY, ask: () => ({ body: { name: next('made') } }) },
  'GET /namespaces/:ns': { may: SEE, ask: () => inShop },
  'GET /namespaces/:ns/limits': { may: SEE, ask: () => inShop },
  'PATCH /namespaces/:ns': [
    { may: MANAGE, ask: () => ({ ...inShop, body: { isPersistent: true } }) },
    {
      what: 'to another owner',
      may: 'L - N N N +  N +  N N N',
      ask: async () => {
        // Creates a namespace only if the last one was transferred.
        const last = given === '' ? undefined : await platform.parts.namespaces.find(given)
        if (last?.namespace.owner !== owner.id) {
          given = next('given')
          await newNamespace(given)
        }
        return { params: { ns: given }, body: { owner: guest.id } }
      },
    },
  ],
  'DELETE /namespaces/:ns': { may: MANAGE, ask: () => ({ params: { ns: doomed } }) },
  'PUT /namespaces/:ns/members/:user': {
    may: MANAGE,
    ask: () => ({ params: { ns: shop, user: guest.id }, body: { role: 'viewer' } }),
  },
  'DELETE /namespaces/:ns/members/:user': {
    may: MANAGE,
    ask: async () => {
      const params = { ns: shop, user: guest.id }
      await asOwner('PUT /namespaces/:ns/members/:user', { params, body: { role: 'viewer' } })
      return { params }
    },
  },
  'GET /environments': {
    may: 'L . + + + .  + .  N N N',
    ask: () => ({ query: { namespaces: shop } }),
    shows: ({ items }: { readonly items: readonly { readonly namespace: string }[] }) =>
      items.some(({ namespace }) => namespace === shop),
  },
  'GET /search': {
    may: LISTED,
    shows: ({ items }: { readonly items: readonly { readonly namespace: string }[] }) =>
      items.some(({ namespace }) => namespace === shop),
  },
  'GET /namespaces/:ns/environments': { may: LOOK, ask: () => inShop },
  'GET /namespaces/:ns/environments/:env': { may: LOOK, ask: () => service, but: 'platform/no-environment' },
  'GET /namespaces/:ns/environments/:env/history': { may: LOOK, ask: () => service, but: 'platform/no-environment' },
  'GET /namespaces/:ns/environments/:env/services/:service/events': {
    may: LOOK,
    ask: () => service,
    but: 'platform/no-environment',
  },
  'GET /namespaces/:ns/environments/:env/services/:service/settings': {
    may: LOOK,
    ask: () => service,
    but: 'platform/no-environment',
  },
  'GET /namespaces/:ns/live': { may: LOOK, ask: () => inShop },
  'GET /namespaces/:ns/logs': { may: LOOK, ask: () => inShop },
  'POST /namespaces/:ns/sleep': { may: 'L - N + + +  + +  N N N', ask: () => ({ params: { ns: rest } }) },
  'POST /namespaces/:ns/wake': { may: SEE, ask: () => ({ params: { ns: rest } }) },
  'GET /builders/connect': {
    may: FOR_RUNS,
    ask: () => ({ query: { namespace: shop } }),
    but: 'platform/no-builders',
  },
  'GET /runs': [
    {
      may: LISTED,
      shows: ({ items }: { items: readonly { id: string }[] }) => items.some(({ id }) => id === run.id),
    },
    { what: 'of a namespace', may: SEE, ask: () => ({ query: { namespace: shop } }) },
  ],
  'POST /runs': {
    may: INSIDE,
    ask: () => ({ body: { namespace: shop, environment: next('env'), action: 'deploy', repository } }),
  },
  'GET /runs/:id': { may: SEE, ask: () => ({ params: { id: run.id } }) },
  'POST /runs/:id/cancel': { may: INSIDE, ask: async () => ({ params: { id: (await newRun()).id } }) },
  'GET /runs/:id/log': { may: SEE, ask: () => ({ params: { id: run.id } }) },
  // A job sees previews with its prefix: `ci.test.ts`.
  'GET /previews': { may: 'L . + + + +  + +  N N .', shows: named(preview) },
  // The user who created a preview deploys to it again; for all other callers, its name is taken.
  'POST /previews': { may: 'L T T T + T  + T  N N N', ask: () => ({ body: { name: preview, repository } }) },
  'GET /previews/:name': { may: SEE, ask: () => ({ params: { name: preview } }) },
  'DELETE /previews/:name': { may: MANAGE, ask: () => ({ params: { name: old } }) },
  'GET /previews/:name/runs/:id/log': { may: SEE, ask: () => ({ params: { name: preview, id: previewRun.id } }) },
  'GET /hooks': {
    may: 'L . . . + +  + +  N N N',
    shows: ({ items }: { items: readonly { id: string }[] }) => items.some(({ id }) => id === hook.id),
  },
  'POST /hooks': {
    may: PERSON,
    ask: () => ({ body: { repository, token: FORGE_TOKEN, prefix: `${next('h')}-` } }),
  },
  'DELETE /hooks/:id': {
    may: 'L - - - + +  N N  N N N',
    ask: async () => ({ params: { id: (await newHook()).id } }),
  },
  'GET /users': { may: ANYBODY },
  'GET /admin/users': { may: ADMIN },
  'PATCH /admin/users/:user': { may: ADMIN, ask: () => ({ params: { user: guest.id }, body: { role: 'developer' } }) },
  'GET /admin/overview': { may: ADMIN },
  'GET /settings': { may: ADMIN },
  'GET /admin/analytics': { may: ADMIN },
  'POST /analytics': { may: PERSON, ask: () => ({ body: { commands: [] } }) },
  'GET /variables/:scope': [
    { what: 'of a namespace', may: INSIDE, ask: () => ({ params: ofShop }) },
    { what: 'of a person', may: OWN, ask: () => ({ params: { scope: 'user' } }), shows: named('OWN') },
    { what: 'of everybody', may: ANYBODY, ask: () => ({ params: { scope: 'admin' } }) },
  ],
  'PATCH /variables/:scope': [
    { what: 'of a namespace', may: INSIDE, ask: () => ({ params: ofShop, body: { variables: { A: 'x' } } }) },
    {
      what: 'of everybody',
      may: 'L N N N N +  N +  N N N',
      ask: () => ({ params: { scope: 'admin' }, body: { variables: {} } }),
    },
  ],
  'PUT /variables/:scope/:name': [
    { what: 'of a namespace', may: INSIDE, ask: () => ({ params: { ...ofShop, name: 'A' }, body: value }) },
    {
      what: 'of everybody',
      may: 'L N N N N +  N +  N N N',
      ask: () => ({ params: { scope: 'admin', name: `A_${RUN}` }, body: value }),
    },
  ],
  'DELETE /variables/:scope/:name': [
    {
      what: 'of a namespace',
      may: INSIDE,
      ask: async () => {
        const params = { ...ofShop, name: 'A' }
        await asOwner('PUT /variables/:scope/:name', { params, body: value })
        return { params }
      },
    },
    {
      what: 'of a person',
      may: OWN_ONLY,
      ask: async () => {
        const params = { scope: 'user', name: 'OWN_TOO' }
        await asOwner('PUT /variables/:scope/:name', { params, body: value })
        return { params }
      },
    },
    {
      what: 'of everybody',
      may: 'L N N N N +  N +  N N N',
      ask: async () => {
        await platform.parts.variables.change({ kind: 'admin' }, owner.id, { [`A_${RUN}`]: 'x' })
        return { params: { scope: 'admin', name: `A_${RUN}` } }
      },
    },
  ],
  'GET /namespaces/:ns/variables/effective': { may: FOR_RUNS, ask: () => inShop },
  'GET /credentials/:scope': [
    { what: 'of a namespace', may: INSIDE, ask: () => ({ params: ofShop }) },
    {
      what: 'of a person',
      may: OWN,
      ask: () => ({ params: { scope: 'user' } }),
      shows: ({ items }: { items: readonly { host: string }[] }) => items.some(one => one.host === 'own.example.com'),
    },
  ],
  'PUT /credentials/:scope/:host': [
    { what: 'of a namespace', may: INSIDE, ask: () => ({ params: { ...ofShop, host }, body: login }) },
  ],
  'DELETE /credentials/:scope/:host': [
    {
      what: 'of a namespace',
      may: INSIDE,
      ask: async () => {
        const params = { ...ofShop, host }
        await asOwner('PUT /credentials/:scope/:host', { params, body: login })
        return { params }
      },
    },
    {
      what: 'of a person',
      may: OWN_ONLY,
      ask: async () => {
        const params = { scope: 'user', host }
        await asOwner('PUT /credentials/:scope/:host', { params, body: login })
        return { params }
      },
    },
  ],
  'POST /namespaces/:ns/registry-login': { may: FOR_RUNS, ask: () => inShop },
}

async function newNamespace(name: string): Promise<void> {
  await asOwner('POST /namespaces', { body: { name } })
  await share(name)
}
async function share(ns: string): Promise<void> {
  for (const [user, role] of [
    [viewer.id, 'viewer'],
    [developer.id, 'developer'],
  ] as const)
    await asOwner('PUT /namespaces/:ns/members/:user', { params: { ns, user }, body: { role } })
}

describe('the table of permissions', () => {
  test('the table of permissions has each route, once', () => {
    const all = [...Object.keys(TABLE), ...Object.keys(ELSEWHERE)]
    expect(all.sort()).toEqual(Object.keys(ROUTES).sort())
  })

  test.each(Object.entries(ELSEWHERE))('%s is tested in %s', (route, file) => {
    const path = join(import.meta.dirname, file)
    expect(existsSync(path)).toBe(true)
    expect(readFileSync(path, 'utf8')).toMatch(new RegExp(`['\`]${route}['\`]`))
  })
})

describe.skipIf(!process.env.KUBECONFIG)('permissions of the routes', () => {
  let kinds: Readonly<Record<Exclude<Caller, 'nobody'>, NewToken>>
  const tokens = new Map<Caller, string | undefined>()
  const newToken = async (caller: Caller) =>
    caller === 'nobody' ? undefined : (await platform.parts.tokens.issue(kinds[caller])).text

  beforeAll(async () => {
    forge = await openStubForge()
    forge.tokens.set(FORGE_TOKEN, true)
    const prefix = `ci-${RUN}-`
    platform = await openPlatform({
      namespacesPerUser: 50,
      registry: 'images.dev.example.com',
      registryTokens: true,
      forges: [{ kind: 'gitea', url: 'https://git.example.com', api: forge.api }],
      ci: [{ kind: 'github', issuer: 'https://ci.example.com', rules: [{ repository: '1', prefix }] }],
    })
    url = await platform.app.listen({ port: 0, host: '127.0.0.1' })
    const people = ['administrator', 'owner', 'developer', 'viewer', 'stranger', 'guest'] as const
    const [admin, ...others] = await Promise.all(
      people.map(one => platform.person(one, one === 'administrator' ? 'admin' : undefined)),
    )
    ;[owner, developer, viewer, stranger, guest] = others as [Person, Person, Person, Person, Person] // as many as names
    for (const name of [shop, rest, doomed]) await newNamespace(name)
    for (const name of [preview, old]) {
      const made = await asOwner('POST /previews', { body: { name, repository } })
      if (name === preview) previewRun = made.run!
      await share(name)
    }
    run = await newRun()
    hook = await newHook()
    await asOwner('PUT /variables/:scope/:name', { params: { scope: 'user', name: 'OWN' }, body: value })
    await asOwner('PUT /credentials/:scope/:host', { params: { scope: 'user', host: 'own.example.com' }, body: login })

    const job = await platform.parts.users.loggedIn({
      issuer: 'https://ci.example.com',
      subject: `${RUN}-job`,
      login: 'ci:acme/shop',
    })
    kinds = {
      stranger: { kind: 'cli', label: '', user: stranger.id },
      viewer: { kind: 'cli', label: '', user: viewer.id },
      developer: { kind: 'cli', label: '', user: developer.id },
      owner: { kind: 'cli', label: 'of the owner', user: owner.id },
      administrator: { kind: 'cli', label: '', user: admin!.id },
      "owner's program": { kind: 'api', label: '', user: owner.id },
      "administrator's program": { kind: 'api', label: '', user: admin!.id },
      'run of the namespace': { kind: 'run', label: '', user: owner.id, namespaces: [shop] },
      'run of another namespace': { kind: 'run', label: '', user: owner.id, namespaces: [rest] },
      'job of a CI': { kind: 'ci', label: '', user: job.id, prefix },
    }
    for (const caller of CALLERS) tokens.set(caller, await newToken(caller))
  })
  afterAll(async () => {
    forge?.close()
    if (!platform) return
    for (const one of await platform.parts.hooks.list()) await platform.parts.hooks.remove(one)
    await platform.parts.variables.change({ kind: 'admin' }, owner.id, { [`A_${RUN}`]: null })
    await platform.close()
  })

  const rows = (Object.entries(TABLE) as [RouteName, Row | readonly Row[]][]).flatMap(([route, of]) =>
    [of].flat().map((row: Row) => [row.what === undefined ? route : `${route} ${row.what}`, route, row] as const),
  )

  test.each(rows)('%s responds to each caller as the table says', async (_, route, row) => {
    const cells = row.may.split(/ +/)
    expect(cells).toHaveLength(CALLERS.length)
    const seen: Record<string, string> = {}
    const look = async (caller: Caller) => {
      // A logout needs a login that no other row uses.
      const token = route === 'POST /auth/logout' ? await newToken(caller) : tokens.get(caller)
      seen[caller] = await answerTo(route, row, token)
    }
    // Requests that change something are sent one after another.
    if (route.startsWith('GET ')) await Promise.all(CALLERS.map(look))
    else for (const caller of CALLERS) await look(caller)
    expect(seen).toEqual(Object.fromEntries(CALLERS.map((caller, at) => [caller, cells[at]])))
  })

  /** Returns the response to a caller, in the letters of the table. */
  async function answerTo(route: RouteName, { ask, but, shows }: Row, token: string | undefined): Promise<string> {
    const { params = {}, query, body } = (await ask?.()) ?? {}
    const [method = '', path = ''] = route.split(' ')
    const filled = path.replaceAll(/:(\w+)/g, (_, key: string) => params[key] ?? '')
    const end = new AbortController()
    const response = await fetch(`${url}/api/v1${filled}${query ? `?${new URLSearchParams(query)}` : ''}`, {
      method,
      signal: end.signal,
      headers: {
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    })
    const { status } = response
    if (status < 300 && (ROUTES[route] as ApiRoute).events) {
      // A stream does not end by itself.
      end.abort()
      return '+'
    }
    const text = await response.text()
    const json = text === '' ? undefined : JSON.parse(text)
    if (status < 300) return shows && !shows(json as never) ? '.' : '+' // the response of this route
    const { code } = json as { readonly code: string } // every error has one
    if (code === but) return '+'
    if (status === 401 && code === 'platform/login') return 'L'
    if (status === 403 && code === 'platform/not-allowed') return 'N'
    if (status === 409 && code === 'platform/exists') return 'T'
    if (status === 404 && code.startsWith('platform/no-')) return '-'
    return `${status} ${text}`
  }
})
