import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { ClaimRule } from '../../../../../../platform/rules/accounts/provider.ts'
import { oidcProvider } from '../../../../../../platform/server/login/providers/oidc.ts'
import { CLIENT_SECRET } from '../../../../../support/platform/open-platform.ts'
import { type StubIssuer, stubIssuer } from '../../../../../support/platform/stub-issuer.ts'

let stub: StubIssuer
beforeAll(async () => {
  stub = await stubIssuer()
})
afterEach(() => {
  stub.fault = () => false
  stub.isWithoutRefresh = false
})
afterAll(() => stub.close())

const BACKEND = { claim: 'groups', value: 'backend' }
const COMPANY = { claim: 'hd', value: 'example.com' }

const provider = (allow: readonly ClaimRule[] = []) =>
  oidcProvider(
    { kind: 'oidc', id: 'oidc', name: 'Git', issuer: stub.issuer, clientId: 'devctl', allow },
    { callback: 'https://p.example.com/callback', clientSecret: () => CLIENT_SECRET, now: Date.now },
  )

const signal = AbortSignal.timeout(60_000)

/** Asks about an account; `status` is what the provider responds instead of the claims that it keeps there. */
function ask(allow: readonly ClaimRule[], claims: object, status?: number) {
  stub.refreshTokens.set('first', { sub: '42' })
  stub.refreshed = { claims: { ...claims }, hasIdToken: true }
  stub.fault = (path, response) => {
    if (path !== '/userinfo' || status === undefined) return false
    response.writeHead(status).end()
    return true
  }
  return provider(allow).ask!('first', '42', { signal, renewed: async () => {} })
}

test.each([503, 429])(
  'an ID token without the claim of a rule refuses nobody while userinfo responds %i',
  async status => {
    expect(await ask([BACKEND], {}, status)).toBe(true)
    expect(await ask([BACKEND, COMPANY], { hd: 'other.example' }, status)).toBe(true)
  },
)

test('an ID token with the claims of all rules refuses an account even while userinfo is down', async () => {
  expect(await ask([BACKEND], { groups: ['guests'] }, 503)).toBe(false)
  expect(await ask([BACKEND], { groups: ['backend'] }, 503)).toBe(true)
})

test('an ID token without the claim of a rule refuses an account that userinfo has nothing else about', async () => {
  expect(await ask([BACKEND], {})).toBe(false)
})

test.each(['/keys', '/userinfo'])(
  'the next refresh token is stored before a request for %s, which fails',
  async failing => {
    stub.refreshTokens.set('first', { sub: '42' })
    stub.refreshed = { claims: {}, hasIdToken: true }
    const events: string[] = []
    stub.fault = (path, response) => {
      if (path !== failing) return false
      events.push(path)
      response.destroy()
      return true
    }
    const renewed = async (token: string) => {
      events.push('renewing')
      await new Promise(done => setTimeout(done, 50))
      events.push(stub.refreshTokens.has(token) ? 'renewed' : 'another token')
    }
    await provider().ask!('first', '42', { signal, renewed }).catch(() => {})
    expect(events).toEqual(['renewing', 'renewed', failing])
  },
)

test('a provider that accepts the same refresh token again has nothing to store', async () => {
  stub.refreshTokens.set('first', { sub: '42' })
  stub.refreshed = { claims: {}, hasIdToken: true }
  stub.isWithoutRefresh = true
  const renewed = () => expect.fail('nothing is renewed')
  expect(await provider().ask!('first', '42', { signal, renewed })).toBe(true)
})

test('a replica that no longer leads uses no refresh token up', async () => {
  stub.refreshTokens.set('first', { sub: '42' })
  const renewed = () => expect.fail('nothing is renewed')
  const asked = provider().ask!('first', '42', { signal: AbortSignal.abort(), renewed })
  await expect(asked).rejects.toThrow()
  expect(stub.refreshTokens.has('first')).toBe(true)
})

test('a replica that loses the lead during a grant stores the next refresh token, and asks no further', async () => {
  stub.refreshTokens.set('first', { sub: '42' })
  stub.refreshed = { claims: {}, hasIdToken: true }
  const lead = new AbortController()
  const stored: string[] = []
  stub.fault = path => {
    if (path === '/token') lead.abort()
    if (path === '/userinfo') stored.push('asked further')
    return false
  }
  const renewed = async (token: string) => void stored.push(token)
  await expect(provider().ask!('first', '42', { signal: lead.signal, renewed })).rejects.toThrow()
  expect(stored).toEqual([expect.stringMatching(/^refresh-/)])
})
