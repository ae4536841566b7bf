import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { USERS_NAMESPACE } from '../../../platform/records/names.ts'
import { userId } from '../../../platform/rules/names.ts'
import { accountCheckTask } from '../../../platform/server/login/account-checks.ts'
import { login } from '../../../platform/session/login.ts'
import { eventually } from '../../support/cluster/cluster.ts'
import { lacks } from '../../support/lacks.ts'
import { GITEA, GiteaBrowser, giteaApi, HAS_GITEA, trustGitea } from '../../support/platform/gitea.ts'
import { openPlatform, type TestPlatform } from '../../support/platform/open-platform.ts'
import { RUN } from '../../support/platform/run-name.ts'
import { run } from '../../support/run.ts'
import { longTest } from '../../support/takes-all.ts'

// Tests a real OpenID Connect provider: Gitea, with its pages, its tokens and its answers about users who left.
// Providers that lie are tested in providers.test.ts.

const HOUR = 3_600_000
const PLATFORM = 'https://platform.dev.example.com'
const PASSWORD = `secret-${RUN}-0123`
const TEAM = `team-${RUN}`

describe.skipIf(lacks('an API server and a Gitea', !process.env.KUBECONFIG || !HAS_GITEA))(
  'Gitea as the provider',
  () => {
    let platform: TestPlatform
    let url: string
    let application: { readonly id: number; readonly client_id: string; readonly client_secret: string } | undefined
    let distrust = () => {}
    const people = new Map<string, number>()
    const folder = mkdtempSync(join(tmpdir(), 'devctl-gitea-'))

    beforeAll(async () => {
      distrust = trustGitea()
      application = await giteaApi('POST', '/user/applications/oauth2', {
        name: `devctl-${RUN}`,
        redirect_uris: ['oidc', 'team'].map(id => `${PLATFORM}/login/${id}/callback`),
        confidential_client: true,
      })
      const { client_id: clientId, client_secret: clientSecret } = application!
      const one = { kind: 'oidc', id: 'oidc', name: 'Gitea', issuer: GITEA, clientId, allow: [] } as const
      const allow = [{ claim: 'groups', value: TEAM }]
      platform = await openPlatform({ providers: [one, { ...one, id: 'team', allow }], clientSecret })
      url = await platform.app.listen({ port: 0, host: '127.0.0.1' })
      writeFileSync(join(folder, 'compose.yaml'), 'services: {web: {image: "nginx:1.27-alpine", ports: ["80"]}}\n')
    })
    afterEach(() => {
      platform.later = 0
    })
    afterAll(async () => {
      rmSync(folder, { recursive: true, force: true })
      await platform?.close()
      // The platform does not delete users of this issuer by itself, since their subjects do not name the test run.
      for (const [name, id] of people) {
        if (platform) {
          const user = userId(GITEA, String(id))
          await platform.parts.tokens.revokeAll(user)
          for (const ref of [
            { apiVersion: 'v1', kind: 'ServiceAccount', name: `u-${user}`, namespace: USERS_NAMESPACE },
            { apiVersion: 'v1', kind: 'Secret', name: `p-${user}`, namespace: USERS_NAMESPACE },
          ])
            await platform.cluster.delete(ref)
        }
        await giteaApi('DELETE', `/admin/users/${name}?purge=true`)
      }
      if (application) await giteaApi('DELETE', `/user/applications/oauth2/${application.id}`)
      distrust()
    })

    /** Creates a user with an account in Gitea. Returns the number of the account, and a browser that is logged in. */
    async function person(short: string) {
      const name = `${short}-${RUN}`
      const made = await giteaApi<{ readonly id: number }>('POST', '/admin/users', {
        username: name,
        email: `${name}@example.com`,
        full_name: `${short} of the test`,
        password: PASSWORD,
        must_change_password: false,
      })
      people.set(name, made.id)
      const browser = new GiteaBrowser()
      await browser.logIn(name, PASSWORD)
      return { name, number: made.id, browser, id: userId(GITEA, String(made.id)) }
    }

    const go = async (path: string, cookie = '') => {
      const { statusCode, headers } = await platform.app.inject({ url: path, headers: { cookie } })
      const set = [headers['set-cookie'] ?? []].flat()
      const jar = new Map(set.map(one => one.split(';')[0]!.split('=') as [string, string]))
      return { status: statusCode, location: String(headers.location), jar }
    }

    /** Logs in: goes from the page of the platform to Gitea and back. */
    async function logIn({ browser }: { readonly browser: GiteaBrowser }, provider = 'oidc', change = (_: URL) => {}) {
      const begun = await go(`/login/${provider}?to=/namespaces/shop`)
      const back = await browser.consent(begun.location)
      expect(back.origin).toBe(PLATFORM)
      change(back)
      const cookie = `__Host-devctl-login=${begun.jar.get('__Host-devctl-login')}`
      return go(`${back.pathname}${back.search}`, cookie)
    }
    const sessionOf = ({ location, jar }: Awaited<ReturnType<typeof go>>) => {
      expect(location, platform.log.at(-1)).toBe('/namespaces/shop')
      return { cookie: `__Host-devctl=${jar.get('__Host-devctl')}`, 'sec-fetch-site': 'same-origin' }
    }
    const status = async (token: string) => (await platform.call('GET /me', { token })).status
    const ask = () => accountCheckTask(platform.world, platform.parts, 0).run(AbortSignal.timeout(60_000))
    const apiToken = async (headers: Readonly<Record<string, string>>) =>
      (await platform.call('POST /me/tokens', { headers, body: { label: 'ci' } })).body.token

    test('a user logs in on the pages of Gitea, and is identified by their number', async () => {
      const ann = await person('ann')
      const { body } = await platform.call('GET /me', { headers: sessionOf(await logIn(ann)) })
      expect(body).toMatchObject({
        id: ann.id,
        login: ann.name,
        name: 'ann of the test',
        email: `${ann.name}@example.com`,
        role: 'developer',
        home: ann.name,
      })
      // The consent from the first login still applies.
      expect((await platform.call('GET /me', { headers: sessionOf(await logIn(ann)) })).body.id).toBe(ann.id)
    })

    test('a code of another login logs nobody in', async () => {
      const mallory = await person('mallory')
      let stolen = ''
      await logIn(mallory, 'oidc', back => {
        stolen = back.searchParams.get('code') ?? ''
      })
      const answer = await logIn(mallory, 'oidc', back => back.searchParams.set('code', stolen))
      expect([answer.location, answer.jar.has('__Host-devctl')]).toEqual([expect.stringContaining('?problem='), false])
      const fresh = await go('/login/oidc')
      const back = await mallory.browser.consent(fresh.location)
      const other = `__Host-devctl-login=${(await go('/login/oidc')).jar.get('__Host-devctl-login')}`
      expect((await go(`${back.pathname}${back.search}`, other)).location).toBe('/login?problem=provider-answer')
      // Gitea refuses a code without the secret of the same login (PKCE).
      const state = new URL((await go('/login/oidc')).location).searchParams
      const { browser } = mallory
      const begun = await go('/login/oidc')
      const address = new URL(begun.location)
      address.searchParams.set('code_challenge', state.get('code_challenge') ?? '')
      const returned = await browser.consent(address.href)
      const cookie = `__Host-devctl-login=${begun.jar.get('__Host-devctl-login')}`
      expect((await go(`${returned.pathname}${returned.search}`, cookie)).jar.has('__Host-devctl')).toBe(false)
    })

    longTest('deploy works after a login by a button in the browser, and after one by a typed code', async () => {
      const bob = await person('bob')
      const headers = sessionOf(await logIn(bob))
      const env = { HOME: folder, PATH: process.env.PATH!, DEVCTL_HOME: join(folder, 'button') }
      const press = async (page: string) => {
        const { port, state = '', challenge, label } = Object.fromEntries(new URL(page).searchParams)
        const { body } = await platform.call('POST /auth/cli/code', { headers, body: { challenge, label } })
        await fetch(`http://127.0.0.1:${port}/?${new URLSearchParams({ code: body.code, state })}`)
      }
      let pressed = Promise.resolve()
      const { me } = await login(
        { cwd: folder, env },
        {
          url,
          fields: {},
          signal: AbortSignal.timeout(60_000),
          open: async () => true,
          onPage: page => {
            pressed = press(page)
          },
          onCode: () => {},
        },
      )
      await pressed
      expect(me.id).toBe(bob.id)
      const devctl = (line: string, home: string) =>
        run(line.split(' '), { cwd: folder, env: { ...env, DEVCTL_HOME: join(folder, home) } })
      expect((await devctl('namespace list', 'button')).stdout).toContain(`${bob.name} *`)
      expect(await devctl('deploy --name shop', 'button')).toMatchObject({ status: 0 })

      const before = platform.lastCode()
      const waiting = devctl(`context use ${url}`, 'code')
      const code = await eventually('a code', async () => {
        const last = platform.lastCode()
        return last === before ? undefined : last
      })
      await platform.call('POST /auth/device/answer', { headers, body: { code, isAllowed: true } })
      expect(await waiting).toMatchObject({ status: 0, stderr: expect.stringContaining(`Logged in as ${bob.name}\n`) })
      expect(await devctl('deploy --name shop', 'code')).toMatchObject({ status: 0 })
    })

    test('a member of the team is admitted, and loses access within an hour after leaving it', async () => {
      const [cleo, dan] = [await person('cleo'), await person('dan')]
      await giteaApi('POST', '/orgs', { username: TEAM, visibility: 'private' })
      try {
        const [{ id }] = await giteaApi<[{ readonly id: number }]>('GET', `/orgs/${TEAM}/teams`)
        await giteaApi('PUT', `/teams/${id}/members/${cleo.name}`)
        expect((await logIn(dan, 'team')).location).toBe('/login?problem=not-admitted')
        const token = await apiToken(sessionOf(await logIn(cleo, 'team')))
        platform.later = HOUR + 1000
        await ask()
        expect(await status(token)).toBe(200)
        await giteaApi('DELETE', `/teams/${id}/members/${cleo.name}`)
        platform.later = 2 * HOUR + 2000
        await ask()
        expect(await status(token)).toBe(401)
      } finally {
        await giteaApi('DELETE', `/orgs/${TEAM}`)
      }
    })

    test('a user whom Gitea deactivates loses access within an hour, until a new login', async () => {
      const [eve, fay] = [await person('eve'), await person('fay')]
      const [token, other] = [await apiToken(sessionOf(await logIn(eve))), await apiToken(sessionOf(await logIn(fay)))]
      for (const hours of [1, 2]) {
        platform.later = hours * (HOUR + 1000)
        await ask()
        expect(await status(token), `${hours} h later`).toBe(200)
      }
      const account = (active: boolean) =>
        giteaApi('PATCH', `/admin/users/${eve.name}`, {
          source_id: 0,
          login_name: eve.name,
          active,
          prohibit_login: !active,
        })
      await account(false)
      platform.later = 3 * (HOUR + 1000)
      await ask()
      expect([await status(token), await status(other)]).toEqual([401, 200])
      expect(platform.audit).toContainEqual(expect.objectContaining({ action: 'refused by provider', user: eve.id }))
      await account(true)
      expect(await status(token), 'as long as nobody has logged in').toBe(401)
      await eve.browser.logIn(eve.name, PASSWORD)
      sessionOf(await logIn(eve))
      expect(await status(token)).toBe(200)
    })
  },
)
