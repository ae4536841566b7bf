import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { userId } from '../../../platform/rules/names.ts'
import { openPlatform, type TestPlatform } from '../../support/platform/open-platform.ts'
import { RUN } from '../../support/platform/run-name.ts'
import { type StubGitHub, stubGitHub } from './stub-github.ts'

// Tests logins by GitHub, which has no OpenID Connect: users are identified by their number, and admitted by
// organizations and teams.

const URL_OF = 'https://platform.dev.example.com'
const NUMBER = 1_000_000 + process.pid * 10

describe.skipIf(!process.env.KUBECONFIG)('logins by GitHub', () => {
  let stub: StubGitHub
  let platform: TestPlatform
  const made = new Set<number>()
  beforeAll(async () => {
    stub = await stubGitHub()
    const one = { kind: 'github', id: 'github', name: 'GitHub', url: stub.url, clientId: 'devctl', allow: [] } as const
    platform = await openPlatform({
      providers: [
        one,
        { ...one, id: 'closed', allow: ['acme/backend', 'other'] },
        { ...one, id: 'wrong', clientId: 'wrong' },
      ],
    })
  })
  afterEach(() => {
    stub.fault = () => false
    stub.memberships = {}
  })
  afterAll(async () => {
    for (const number of made) {
      const id = userId(stub.url, String(number))
      await platform?.parts.tokens.revokeAll(id)
      const account = { apiVersion: 'v1', kind: 'ServiceAccount', name: `u-${id}`, namespace: 'devctl-users' }
      await platform?.cluster.delete(account)
    }
    await platform?.close()
    stub?.close()
  })

  const login = (name: string) => `${name}-${RUN}`
  const be = (name: string, number: number, more: object = {}) => {
    made.add(number)
    stub.person = { id: number, login: login(name), ...more }
  }
  const go = async (url: string, cookie = '') => {
    const { statusCode, headers } = await platform.app.inject({ url, headers: { cookie } })
    const set = [headers['set-cookie'] ?? []].flat()
    const jar = new Map(set.map(one => one.split(';')[0]!.split('=') as [string, string]))
    return { status: statusCode, location: String(headers.location), jar }
  }
  const begin = async (provider: string) => {
    const { location, jar } = await go(`/login/${provider}`)
    return { location, cookie: `__Host-devctl-login=${jar.get('__Host-devctl-login')}` }
  }
  const atGitHub = async (location: string) => {
    const { headers } = await fetch(location, { redirect: 'manual' })
    return String(headers.get('location')).replace(URL_OF, '')
  }
  const logIn = async (provider = 'github') => {
    const { location, cookie } = await begin(provider)
    return go(await atGitHub(location), cookie)
  }
  const me = async ({ jar }: Awaited<ReturnType<typeof go>>) => {
    const headers = { cookie: `__Host-devctl=${jar.get('__Host-devctl')}`, 'sec-fetch-site': 'same-origin' }
    return (await platform.call('GET /me', { headers })).body
  }
  const problem = ({ location, jar }: Awaited<ReturnType<typeof go>>) => {
    expect(jar.get('__Host-devctl')).toBeUndefined()
    return new URLSearchParams(location.split('?')[1]).get('problem')
  }

  test('a user is identified by their number: a new login is the same user, a reused login another', async () => {
    be('ann', NUMBER, { name: 'Ann', email: 'ann@example.com' })
    const ann = await me(await logIn())
    expect(ann).toMatchObject({
      id: userId(stub.url, String(NUMBER)),
      login: login('ann'),
      name: 'Ann',
      email: 'ann@example.com',
      role: 'developer',
      home: login('ann'),
    })
    be('anna', NUMBER)
    expect(await me(await logIn())).toMatchObject({ id: ann.id, login: login('anna'), home: ann.home })
    be('ann', NUMBER + 1, { email: 'ann@example.com' })
    const other = await me(await logIn())
    expect(other.id).not.toBe(ann.id)
    expect(other.home).not.toBe(ann.home)
  })

  test('the platform requests only the scopes that it needs, with PKCE and state', async () => {
    const asked = async (provider: string) => new URL((await begin(provider)).location).searchParams
    const open = await asked('github')
    expect(Object.fromEntries(open)).toMatchObject({
      client_id: 'devctl',
      redirect_uri: `${URL_OF}/login/github/callback`,
      scope: '',
      code_challenge_method: 'S256',
      state: expect.stringMatching(/^.{43}$/),
    })
    expect((await asked('closed')).get('scope')).toBe('read:org')
    expect((await asked('github')).get('state')).not.toBe(open.get('state'))
  })

  test('a response for another browser and a code of another login log nobody in', async () => {
    be('mallory', NUMBER + 2)
    const { location, cookie } = await begin('github')
    const back = await atGitHub(location)
    expect(problem(await go(back))).toBe('expired')
    expect(problem(await go(back, (await begin('github')).cookie))).toBe('provider-answer')
    const state = new URL(location).searchParams.get('state')
    const foreign = new URLSearchParams((await atGitHub((await begin('github')).location)).split('?')[1]).get('code')
    expect(problem(await go(`/login/github/callback?code=${foreign}&state=${state}`, cookie))).toBe('expired')
  })

  const team = `/orgs/acme/teams/backend/memberships/${login('cleo')}`
  test.each<readonly [string, Readonly<Record<string, string>>, string | null]>([
    ['of the team', { [team]: 'active' }, null],
    ['of the other organisation', { '/user/memberships/orgs/other': 'active' }, null],
    ['invited to the team', { [team]: 'pending' }, 'not-admitted'],
    ['of the organisation of the team', { '/user/memberships/orgs/acme': 'active' }, 'not-admitted'],
    ['of another team', { [team.replace('backend', 'frontend')]: 'active' }, 'not-admitted'],
    ['a namesake of one of the team', { [team.replace('cleo', 'cleopatra')]: 'active' }, 'not-admitted'],
    ['of none', {}, 'not-admitted'],
  ])('an active membership decides about the login of a user: %s', async (_, memberships, wanted) => {
    be('cleo', NUMBER + 3)
    stub.memberships = memberships
    const back = await logIn('closed')
    expect(wanted === null ? back.jar.has('__Host-devctl') : problem(back)).toBe(wanted ?? true)
  })

  test('a user who has left the team cannot log in again', async () => {
    be('dan', NUMBER + 4)
    stub.memberships = { [team.replace('cleo', 'dan')]: 'active' }
    const { id, lastLogin } = await platform.parts.users.known((await me(await logIn('closed'))).id)
    stub.memberships = {}
    expect(problem(await logIn('closed'))).toBe('not-admitted')
    expect((await platform.parts.users.known(id)).lastLogin).toBe(lastLogin)
  })

  test.each<readonly [string, Readonly<Record<string, unknown>>]>([
    ['a number in a text', { id: '7', login: 'x' }],
    ['half a number', { id: 7.5, login: 'x' }],
    ['a number that others round to', { id: 2 ** 53, login: 'x' }],
    ['nothing', { id: 0, login: 'x' }],
    ['no number', { login: 'x' }],
    ['no name', { id: 7 }],
    ['a path as a name', { id: 7, login: '../../user' }],
  ])('a GitHub user with %s cannot log in', async (_, person) => {
    stub.person = person
    expect(problem(await logIn())).toBe('provider-answer')
  })

  test.each<readonly [string, string, string, (response: import('node:http').ServerResponse) => void]>([
    ['an error of its API', '/api/v3/user', 'provider-down', response => response.writeHead(502).end('<html>')],
    [
      'a limit',
      '/api/v3/user',
      'provider-down',
      response => response.writeHead(403, { 'x-ratelimit-remaining': '0' }).end('{}'),
    ],
    [
      'another limit, at the team',
      `/api/v3${team}`,
      'provider-down',
      response => response.writeHead(403, { 'retry-after': '60' }).end('{}'),
    ],
    ['many requests', '/api/v3/user', 'provider-down', response => response.writeHead(429).end('{}')],
    ['a page', '/api/v3/user', 'provider-answer', response => response.writeHead(200).end('<html>')],
    ['an error of its logins', '/login/oauth/access_token', 'provider-down', response => response.writeHead(500).end()],
    ['a connection that breaks off', '/login/oauth/access_token', 'provider-down', response => response.destroy()],
  ])('a login reports a failure of GitHub: %s', async (_, path, wanted, fail) => {
    be('cleo', NUMBER + 3)
    stub.fault = (asked, response) => {
      if (asked === path) fail(response)
      return asked === path
    }
    expect(problem(await logIn('closed'))).toBe(wanted)
  })

  test('a login reports a wrong client to the administrator, and a refusal by the user', async () => {
    be('eve', NUMBER + 5)
    expect(problem(await logIn('wrong'))).toBe('provider-setup')
    expect(platform.log.at(-1)).toContain('incorrect_client_credentials')
    const { location, cookie } = await begin('github')
    const state = new URL(location).searchParams.get('state')
    const back = `/login/github/callback?error=access_denied&error_description=The+user+has+denied&state=${state}`
    expect(problem(await go(back, cookie))).toBe('refused')
  })
})
