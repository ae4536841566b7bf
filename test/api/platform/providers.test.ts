import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { USERS_NAMESPACE } from '../../../platform/records/names.ts'
import { userId } from '../../../platform/rules/names.ts'
import { accountCheckTask } from '../../../platform/server/login/account-checks.ts'
import { altered } from '../../support/platform/altered.ts'
import { openPlatform, type TestPlatform } from '../../support/platform/open-platform.ts'
import { RUN } from '../../support/platform/run-name.ts'
import { type StubIssuer, stubIssuer } from '../../support/platform/stub-issuer.ts'
import { few } from '../../support/takes-all.ts'

// Tests logins by an OpenID Connect provider, which is a stub, so that it can do what a real one does not.

const HOUR = 3_600_000
const OURS = { 'sec-fetch-site': 'same-origin' }
const URL_OF = 'https://platform.dev.example.com'

describe.skipIf(!process.env.KUBECONFIG)('logins by a provider', () => {
  let stub: StubIssuer
  /** A provider without a scope for refresh tokens, which issues none. */
  let plain: StubIssuer
  let platform: TestPlatform
  beforeAll(async () => {
    ;[stub, plain] = await Promise.all([stubIssuer(), stubIssuer()])
    plain.scopes = ['openid']
    plain.isWithoutRefresh = true
    const { issuer } = stub
    const one = { kind: 'oidc', id: 'oidc', name: 'Example', issuer, clientId: 'devctl', allow: [] } as const
    const allow = [
      { claim: 'groups', value: 'backend' },
      { claim: 'hd', value: 'example.com' },
    ]
    platform = await openPlatform({
      providers: [one, { ...one, id: 'closed', allow }, { ...one, id: 'plain', issuer: plain.issuer }],
    })
  })
  afterEach(() => {
    stub.fault = () => false
    stub.wrong = {}
    stub.isWithoutRefresh = false
    delete stub.refreshed
    platform.later = 0
  })
  afterAll(async () => {
    await platform?.close()
    stub?.close()
    plain?.close()
  })

  const subject = (name: string) => `${RUN}-${name}`
  const be = (name: string, more: object = {}) => {
    stub.person = { sub: subject(name), preferred_username: `${name}-${RUN}`, ...more }
  }

  /** Sends a browser's request; returns where the response redirects it, and its cookies. */
  const go = async (url: string, cookie = '') => {
    const { statusCode, headers } = await platform.app.inject({ url, headers: { cookie } })
    const set = [headers['set-cookie'] ?? []].flat()
    const jar = new Map(set.map(one => one.split(';')[0]!.split('=') as [string, string]))
    return { status: statusCode, location: String(headers.location), jar, set }
  }
  /** Starts a login at the provider. */
  const begin = async (query = '', provider = 'oidc') => {
    const answer = await go(`/login/${provider}${query}`)
    return { ...answer, cookie: `__Host-devctl-login=${answer.jar.get('__Host-devctl-login')}` }
  }
  /** Returns the URL to which the provider redirects the browser. */
  const atProvider = async (location: string) => {
    const { headers } = await fetch(location, { redirect: 'manual' })
    return String(headers.get('location')).replace(URL_OF, '')
  }
  const logIn = async (query = '', provider = 'oidc') => {
    const { location, cookie } = await begin(query, provider)
    return go(await atProvider(location), cookie)
  }
  const sessionOf = ({ jar }: Awaited<ReturnType<typeof go>>) => ({
    cookie: `__Host-devctl=${jar.get('__Host-devctl')}`,
    ...OURS,
  })
  const problem = ({ location, jar }: Awaited<ReturnType<typeof go>>) => {
    expect(jar.get('__Host-devctl')).toBeUndefined()
    return new URLSearchParams(location.split('?')[1]).get('problem')
  }

  test('the platform lists the providers before a login', async () => {
    const { body } = await platform.call('GET /info')
    expect(body.login).toContainEqual({ id: 'oidc', name: 'Example' })
    expect(JSON.stringify(body)).not.toContain('secret')
    expect((await platform.app.inject('/login/other')).statusCode).toBe(404)
  })

  test('a login gives a session and a home namespace, and returns to the page', async () => {
    be('ann', { name: 'Ann', email: 'ann@example.com' })
    const begun = await begin('?to=/namespaces/shop%3Ftab=runs')
    expect(begun.set[0]).toMatch(
      /^__Host-devctl-login=v1\.[\w.-]+; Path=\/; Max-Age=600; HttpOnly; Secure; SameSite=Lax$/,
    )
    const asked = new URL(begun.location).searchParams
    expect(Object.fromEntries(asked)).toMatchObject({
      response_type: 'code',
      scope: 'openid profile email offline_access',
      code_challenge_method: 'S256',
      redirect_uri: `${URL_OF}/login/oidc/callback`,
    })
    expect([asked.get('state'), asked.get('nonce')]).toEqual([expect.any(String), expect.any(String)])
    const back = await go(await atProvider(begun.location), begun.cookie)
    expect([back.status, back.location]).toEqual([303, '/namespaces/shop?tab=runs'])
    expect(back.jar.get('__Host-devctl-login')).toBe('')
    const me = await platform.call('GET /me', { headers: sessionOf(back) })
    expect(me.body).toMatchObject({
      id: userId(stub.issuer, subject('ann')),
      login: `ann-${RUN}`,
      name: 'Ann',
      email: 'ann@example.com',
      role: 'developer',
      home: `ann-${RUN}`,
    })
    expect(platform.audit.at(-1)).toMatchObject({ action: 'login', user: me.body.id, what: { provider: 'oidc' } })
  })

  test('a user with the email address of another user is a separate user', async () => {
    be('first', { email: 'same@example.com' })
    const first = await platform.call('GET /me', { headers: sessionOf(await logIn()) })
    be('second', { email: 'same@example.com', email_verified: true, preferred_username: first.body.login })
    const second = await platform.call('GET /me', { headers: sessionOf(await logIn()) })
    expect(second.body.id).not.toBe(first.body.id)
    expect(second.body.home).not.toBe(first.body.home)
  })

  test.each<readonly [string, StubIssuer['wrong']]>([
    ['signed by another key', { isOtherKey: true }],
    ['not signed', { isUnsigned: true }],
    ['of another issuer', { claims: { iss: 'https://evil.example' } }],
    ['for another client', { claims: { aud: 'other' } }],
    ['for others, too, and given to another', { claims: { aud: ['devctl', 'other'], azp: 'other' } }],
    ['expired', { claims: { exp: 1_600_000_000 } }],
    ['of another login', { claims: { nonce: 'x' } }],
    ['without a subject', { claims: { sub: undefined } }],
    ['with a subject of great length', { claims: { sub: 'x'.repeat(256) } }],
    ['about another person than the rest', { claims: { sub: 'other' } }],
  ])('an ID token %s logs nobody in', async (_, wrong) => {
    be('mallory')
    stub.wrong = wrong
    expect(problem(await logIn())).toBe('provider-answer')
  })

  test('a response that this browser did not request logs nobody in', async () => {
    be('mallory')
    const { location, cookie } = await begin()
    const back = await atProvider(location)
    expect(problem(await go(back))).toBe('expired')
    expect(problem(await go(back, (await begin()).cookie))).toBe('provider-answer')
    expect(problem(await go(back, altered(cookie)))).toBe('expired')
    // The login belongs to another provider.
    expect(problem(await go(back.replace('/oidc/', '/closed/'), cookie))).toBe('expired')
    expect((await go(back, cookie)).jar.get('__Host-devctl')).toMatch(/^devctl_session_/)
    expect(problem(await go(back, cookie)), 'a second time').toBe('expired')
  })

  test('a login that takes longer than ten minutes has expired', async () => {
    be('slow')
    const { location, cookie } = await begin()
    const back = await atProvider(location)
    platform.later = 601_000
    expect(problem(await go(back, cookie))).toBe('expired')
  })

  test('a login reports a refusal by the user, and a client that the provider does not accept', async () => {
    const { location, cookie } = await begin()
    const state = new URL(location).searchParams.get('state')
    const back = (error: string) => go(`/login/oidc/callback?error=${error}&state=${state}`, cookie)
    expect(problem(await back('access_denied'))).toBe('refused')
    expect(problem(await back('unauthorized_client'))).toBe('provider-setup')
    stub.fault = (path, response) => {
      if (path !== '/token') return false
      response.writeHead(401, { 'content-type': 'application/json' }).end('{"error":"invalid_client"}')
      return true
    }
    expect(problem(await logIn())).toBe('provider-setup')
  })

  test.each<readonly [object, string | null]>([
    [{ groups: ['backend', 'all'] }, null],
    [{ hd: 'example.com' }, null],
    [{ groups: 'backend' }, null],
    [{ groups: ['backend-guests'] }, 'not-admitted'],
    [{ email: 'x@example.com', hd: 'evil.example' }, 'not-admitted'],
    [{}, 'not-admitted'],
  ])('a rule about claims admits the right users: %j', async (claims, wanted) => {
    be('ruled', claims)
    const back = await logIn('', 'closed')
    expect(wanted === null ? back.jar.has('__Host-devctl') : problem(back)).toBe(wanted ?? true)
  })

  test('a suspended user does not get access by another login', async () => {
    be('gone')
    const { body } = await platform.call('GET /me', { headers: sessionOf(await logIn()) })
    await platform.parts.users.change(body.id, { isSuspended: true })
    expect(problem(await logIn())).toBe('suspended')
  })

  describe('a provider that fails', () => {
    const failures: readonly (readonly [string, (response: import('node:http').ServerResponse) => void])[] = [
      ['has an error', response => response.writeHead(503).end('<html>')],
      ['breaks off', response => response.destroy()],
      [
        'sends without end',
        response => {
          response.writeHead(200, { 'content-type': 'application/json' })
          const more = () => {
            while (!response.destroyed && response.write(' '.repeat(65_536)));
          }
          response.on('drain', more)
          more()
        },
      ],
      ['says nothing', () => {}],
    ]
    test.each(few(failures, 3))('a provider that %s is reported on a page, and works again later', async (_, fail) => {
      be('patient')
      const { location, cookie } = await begin()
      const back = await atProvider(location)
      stub.fault = (path, response) => {
        if (path !== '/token') return false
        fail(response)
        return true
      }
      const began = Date.now()
      expect(problem(await go(back, cookie))).toBe('provider-down')
      expect(Date.now() - began).toBeLessThan(20_000)
      stub.fault = () => false
      expect((await logIn()).jar.get('__Host-devctl')).toMatch(/^devctl_session_/)
    })
  })

  describe('the hourly check', () => {
    const ask = (signal = new AbortController().signal) =>
      accountCheckTask(platform.world, platform.parts, 0).run(signal)
    const apiToken = async (headers: Readonly<Record<string, string>>) =>
      (await platform.call('POST /me/tokens', { headers, body: { label: 'ci' } })).body.token
    const status = async (token: string) => (await platform.call('GET /me', { token })).status

    test('a user whom the provider refuses loses all access until the next login', async () => {
      be('leaver')
      const headers = sessionOf(await logIn())
      const { id } = (await platform.call('GET /me', { headers })).body
      const token = await apiToken(headers)
      const kube = (await platform.call('POST /kube-token', { token })).body.token
      platform.later = HOUR + 1000
      await ask()
      expect([await status(token), (await platform.call('GET /me', { headers })).status]).toEqual([200, 200])
      stub.refreshTokens.clear()
      await ask()
      expect(await status(token), 'it was asked within the hour').toBe(200)
      platform.later = 2 * HOUR + 2000
      await ask()
      expect((await platform.call('GET /me', { token })).error.code).toBe('platform/login')
      expect((await platform.call('GET /me', { headers })).status).toBe(401)
      expect(platform.audit).toContainEqual(expect.objectContaining({ action: 'refused by provider', user: id }))
      const review = async () => {
        const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', metadata: {} as never }
        const answer = await platform.cluster.create({ ...body, spec: { token: kube } })
        return (answer['status'] as { authenticated?: boolean }).authenticated === true
      }
      const until = Date.now() + 20_000
      while ((await review()) && Date.now() < until) await new Promise(done => setTimeout(done, 250))
      expect(await review()).toBe(false)
      await logIn()
      expect(await status(token)).toBe(200)
    })

    test('a provider that does not respond does not end the access of a user', async () => {
      be('stays')
      const token = await apiToken(sessionOf(await logIn()))
      stub.fault = (path, response) => {
        if (path === '/token') response.writeHead(503).end()
        return path === '/token'
      }
      platform.later = HOUR + 1000
      await ask()
      expect(await status(token)).toBe(200)
    })

    const json = { 'content-type': 'application/json' }
    const answers: readonly (readonly [string, (response: import('node:http').ServerResponse) => void, number])[] = [
      ['a refusal', response => response.writeHead(401, json).end('{}'), 401],
      ['an error', response => response.writeHead(503).end(), 200],
      ['a challenge', response => response.writeHead(401, { 'www-authenticate': 'Bearer' }).end(), 401],
      ['a page for people', response => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>'), 401],
      ['a way to a login', response => response.writeHead(302, { location: '/login' }).end(), 401],
      ['another account', response => response.writeHead(200, json).end('{"sub":"other"}'), 401],
      ['too many questions', response => response.writeHead(429).end(), 200],
      ['nothing', response => response.destroy(), 200],
    ]
    test.each(few(answers, 2))('the hourly check evaluates a new token that leads to %s', async (_, fail, wanted) => {
      be('refreshed')
      const token = await apiToken(sessionOf(await logIn()))
      stub.fault = (path, response) => {
        if (path === '/userinfo') fail(response)
        return path === '/userinfo'
      }
      platform.later = HOUR + 1000
      await ask()
      expect(await status(token)).toBe(wanted)
      stub.fault = () => false
      platform.later = 2 * HOUR + 2000
      await ask()
      expect(await status(token), 'the next refresh token was kept').toBe(wanted)
    })

    const refreshes: readonly (readonly [string, NonNullable<StubIssuer['refreshed']>, number])[] = [
      ['the group still', { claims: { groups: ['backend'] } }, 200],
      ['other groups', { claims: { groups: ['guests'] } }, 401],
      ['no groups', { claims: { groups: null } }, 401],
      ['nothing of groups', { claims: {} }, 200],
      ['no groups in an ID token', { claims: {}, hasIdToken: true }, 401],
      ['the group in an ID token', { claims: { groups: ['backend'] }, hasIdToken: true }, 200],
      ['somebody else', { claims: { sub: 'other', groups: ['backend'] }, hasIdToken: true }, 401],
    ]
    test.each(few(refreshes, 2))('the hourly check applies the rules to %s', async (_, refreshed, wanted) => {
      be('member', { groups: ['backend'] })
      const token = await apiToken(sessionOf(await logIn('', 'closed')))
      stub.refreshed = refreshed
      platform.later = HOUR + 1000
      await ask()
      expect(await status(token)).toBe(wanted)
    })

    test('refresh tokens are sealed, and each is used once', async () => {
      be('sealed')
      const { id } = (await platform.call('GET /me', { headers: sessionOf(await logIn()) })).body
      const ref = { apiVersion: 'v1', kind: 'Secret', name: `p-${id}`, namespace: USERS_NAMESPACE }
      const stored = async () => JSON.stringify((await platform.cluster.get(ref))?.['data'])
      const before = await stored()
      const all = Object.values(JSON.parse(before) as Record<string, string>).map(one => Buffer.from(one, 'base64'))
      expect(Buffer.concat(all).toString()).not.toContain('refresh-')
      platform.later = HOUR + 1000
      await ask()
      expect(await stored()).not.toBe(before)
      platform.later = 2 * HOUR + 2000
      await ask()
      expect((await platform.parts.users.find(id))?.isRefused).toBeUndefined()
    })

    test('tokens for programs stop after 30 days without a login, until the next one', async () => {
      be('quiet')
      plain.person = stub.person
      const token = await apiToken(sessionOf(await logIn('', 'plain')))
      platform.later = 29 * 24 * HOUR
      await ask()
      expect(await status(token)).toBe(200)
      platform.later = 31 * 24 * HOUR
      expect(await status(token)).toBe(401)
      await logIn('', 'plain')
      expect(await status(token)).toBe(200)
    })

    test('a login without a refresh token fails, and does not end the hourly check', async () => {
      be('dropper')
      const token = await apiToken(sessionOf(await logIn()))
      // The request is changed in the browser, so the provider issues no refresh token.
      stub.isWithoutRefresh = true
      expect(problem(await logIn())).toBe('no-refresh')
      stub.refreshTokens.clear()
      platform.later = HOUR + 1000
      await ask()
      expect(await status(token)).toBe(401)
    })

    test('a check of an earlier login does not end the access of a later login', async () => {
      be('again')
      const token = await apiToken(sessionOf(await logIn()))
      platform.later = HOUR + 1000
      let headers: Readonly<Record<string, string>> = {}
      stub.fault = (path, response) => {
        if (path !== '/token') return false
        stub.fault = () => false
        // The user logs in before the provider refuses the old refresh token.
        void logIn().then(back => {
          headers = sessionOf(back)
          response.writeHead(400, { 'content-type': 'application/json' }).end('{"error":"invalid_grant"}')
        })
        return true
      }
      await ask()
      expect([(await platform.call('GET /me', { headers })).status, await status(token)]).toEqual([200, 200])
    })
  })

  test('the setup link makes the account of the installer an administrator, once', async () => {
    be('installer')
    const headers = sessionOf(await logIn())
    const { text } = await platform.parts.tokens.issue({ kind: 'setup', label: 'setup' })
    const claim = () => platform.call('POST /auth/claim', { headers, body: { token: text } })
    expect((await claim()).body.role).toBe('admin')
    expect((await claim()).error.code).toBe('platform/link')
    const { text: invite } = await platform.parts.tokens.issue({ kind: 'invite', label: 'x' })
    expect((await platform.call('POST /auth/claim', { headers, body: { token: invite } })).status).toBe(401)
  })
})
