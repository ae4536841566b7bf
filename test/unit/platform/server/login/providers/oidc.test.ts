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
})
afterAll(() => stub.close())

const BACKEND = { claim: 'groups', value: 'backend' }
const COMPANY = { claim: 'hd', value: 'example.com' }

/** Asks about an account; `status` is what the provider responds instead of the claims that it keeps there. */
function ask(allow: readonly ClaimRule[], claims: object, status?: number) {
  stub.refreshTokens.set('first', { sub: '42' })
  stub.refreshed = { claims: { ...claims }, hasIdToken: true }
  stub.fault = (path, response) => {
    if (path !== '/userinfo' || status === undefined) return false
    response.writeHead(status).end()
    return true
  }
  const provider = oidcProvider(
    { kind: 'oidc', id: 'oidc', name: 'Git', issuer: stub.issuer, clientId: 'devctl', allow },
    { callback: 'https://p.example.com/callback', clientSecret: () => CLIENT_SECRET, now: Date.now },
  )
  return provider.ask!('first', '42', AbortSignal.timeout(5000))
}

const next = { refreshToken: expect.stringMatching(/^refresh-/) }

test.each([503, 429])(
  'an ID token without the claim of a rule refuses nobody while userinfo responds %i',
  async status => {
    expect(await ask([BACKEND], {}, status)).toEqual(next)
    expect(await ask([BACKEND, COMPANY], { hd: 'other.example' }, status)).toEqual(next)
  },
)

test('an ID token with the claims of all rules refuses an account even while userinfo is down', async () => {
  expect(await ask([BACKEND], { groups: ['guests'] }, 503)).toBeUndefined()
  expect(await ask([BACKEND], { groups: ['backend'] }, 503)).toEqual(next)
})

test('an ID token without the claim of a rule refuses an account that userinfo has nothing else about', async () => {
  expect(await ask([BACKEND], {})).toBeUndefined()
})
