import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import { expect } from 'vitest'
import type { PlatformUser } from '../../../platform/records/user.ts'
import { ruleFor, toCiJob } from '../../../platform/rules/accounts/ci-trust.ts'
import type { ServerContext } from '../../../platform/server/context.ts'
import { PlatformError } from '../../../platform/server/http/platform-error.ts'
import { CiExchange } from '../../../platform/server/login/ci-exchange.ts'
import { oidcProvider } from '../../../platform/server/login/providers/oidc.ts'
import { LoginError } from '../../../platform/server/login/providers/provider.ts'
import type { Tokens } from '../../../platform/server/login/tokens.ts'
import type { ProvenIdentity, Users } from '../../../platform/server/login/users.ts'
import { CLIENT_SECRET } from '../platform/open-platform.ts'
import { type StubIssuer, stubIssuer } from '../platform/stub-issuer.ts'

const AUDIENCE = 'https://platform.dev.example.com'
const RULES = [
  { repository: '123', ref: 'refs/heads/*', prefix: 'shop-' },
  { owner: '9', event: 'pull_request_target', prefix: 'other-' },
]
const seconds = () => Math.floor(Date.now() / 1000)
const encoded = (value: unknown) => Buffer.from(JSON.stringify(value) ?? '').toString('base64url')

/** Generates one of the values that could fit, or any JSON value. */
const claim = (...good: readonly unknown[]) =>
  fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...good) }, { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 1 }) })

function exchangeOf(stub: StubIssuer) {
  const accounts = {
    users: { loggedIn: async (identity: ProvenIdentity) => ({ ...identity, id: identity.subject }) as PlatformUser },
    tokens: { issue: async (wanted: unknown) => ({ text: 'issued', record: wanted }) },
  }
  const settings = { url: AUDIENCE, ci: [{ kind: 'github', issuer: stub.issuer, rules: RULES }] }
  const world = { settings, now: Date.now } as unknown as ServerContext // what the exchange reads of one
  // Its parts that need a cluster are none of what is tried here.
  const make = () => new CiExchange(world, accounts as unknown as { readonly tokens: Tokens; readonly users: Users })
  let [exchange, used] = [make(), 0]
  return async (jwt: string) => {
    // One repository may log in some 60 times at once.
    if (used++ % 50 === 49) exchange = make()
    try {
      return await exchange.exchange(jwt)
    } catch (error) {
      expect(error).toBeInstanceOf(PlatformError)
      expect([401, 403]).toContain((error as PlatformError).status)
      return undefined
    }
  }
}

/** A job gets a token only by claims that a rule is about, whatever else is in a token that is well signed. */
export async function tryClaimsOfJobs(numRuns: number): Promise<void> {
  const stub = await stubIssuer()
  const exchange = exchangeOf(stub)
  const claims = fc.record(
    {
      aud: claim(AUDIENCE, [AUDIENCE, 'other'], 'https://platform.evil.example', [AUDIENCE]),
      exp: claim(seconds() + 300, seconds() - 300),
      nbf: claim(seconds() - 10, seconds() + 3000),
      repository_id: claim('123', 123, '124', ['123']),
      repository_owner_id: claim('9', 7, '7'),
      repository: claim('acme/shop'),
      ref: claim('refs/heads/main', 'refs/pull/1/merge'),
      event_name: claim('push', 'pull_request', 'pull_request_target', 'issue_comment'),
    },
    { requiredKeys: ['aud', 'exp', 'repository_id', 'repository_owner_id'] },
  )
  try {
    await fc.assert(
      fc.asyncProperty(claims, async all => {
        const given = await exchange(await stub.sign({ iss: stub.issuer, ...all }).catch(() => 'x'))
        if (!given) return
        const { aud, exp, nbf } = all
        expect([aud].flat()).toContain(AUDIENCE)
        expect(exp).toBeGreaterThan(seconds() - 40)
        if (nbf !== undefined) expect(nbf).toBeLessThan(seconds() + 40)
        const { repository_id: repository, repository_owner_id: owner, ref, event_name: event } = all
        const isFirst =
          ['123', 123].includes(repository as string) &&
          String(ref).startsWith('refs/heads/') &&
          ['push', 'pull_request'].includes(event as string)
        const isSecond = ['9', 9].includes(owner as string) && event === 'pull_request_target'
        expect(isFirst || isSecond, JSON.stringify(all)).toBe(true)
        expect(ruleFor(toCiJob('github', all)!, RULES)?.prefix).toBe(isFirst ? 'shop-' : 'other-')
      }),
      { numRuns },
    )
  } finally {
    stub.close()
  }
}

/** Checks that a token with any change is refused, or still is the same token. */
export async function tryDamagedTokens(numRuns: number): Promise<void> {
  const stub = await stubIssuer()
  const exchange = exchangeOf(stub)
  const good = {
    iss: stub.issuer,
    aud: AUDIENCE,
    exp: seconds() + 3000,
    repository_id: '123',
    repository_owner_id: '7',
    ref: 'refs/heads/main',
    event_name: 'push',
  }
  const whole = await stub.sign(good)
  const [header = '', payload = '', signature = ''] = whole.split('.')
  const { keys } = (await (await fetch(`${stub.issuer}/keys`)).json()) as { readonly keys: readonly object[] }
  const signed = (head: object, key: string) => {
    const text = `${encoded(head)}.${encoded({ ...good, iat: seconds() })}`
    return `${text}.${createHmac('sha256', key).update(text).digest('base64url')}`
  }
  const damaged = fc.oneof(
    fc
      .tuple(fc.nat(whole.length - 1), fc.constantFrom('', 'A', 'b', '.', '=', '-', ' ', '\0', 'ü'))
      .map(([at, letter]) => whole.slice(0, at) + letter + whole.slice(at + 1)),
    fc.tuple(fc.nat(whole.length), fc.string({ maxLength: 6 })).map(([at, more]) => whole.slice(0, at) + more),
    fc
      .record({ alg: claim('none', 'None', 'HS256', 'RS256', 'ES256'), kid: claim('one', 'two'), crit: claim(['x']) })
      .map(head => `${encoded(head)}.${payload}.${signature}`),
    // The public key as the secret of a signature.
    fc.constantFrom(...[JSON.stringify(keys[0]), '', 'secret']).map(key => signed({ alg: 'HS256', kid: 'one' }, key)),
    fc.constantFrom(
      `${encoded({ alg: 'none' })}.${payload}.`,
      `${encoded({ alg: 'RS256', jwk: keys[0] })}.${payload}.${signature}`,
      `${header}.${payload}`,
      `${header}.${payload}.${signature}.x`,
    ),
    fc.jsonValue().map(claims => `${header}.${encoded(claims)}.${signature}`),
    fc.string(),
  )
  try {
    expect(await exchange(whole), 'it is good as it is').toBeDefined()
    await fc.assert(
      fc.asyncProperty(damaged, async jwt => {
        const given = await exchange(jwt)
        // The last letter of base64 has bits that say nothing.
        if (given) expect(Buffer.from(jwt.split('.')[2]!, 'base64url')).toEqual(Buffer.from(signature, 'base64url'))
        if (given) expect(jwt.startsWith(`${header}.${payload}.`)).toBe(true)
      }),
      { numRuns },
    )
  } finally {
    stub.close()
  }
}

/** Checks that, whatever claims a provider sends about a user, the user is its subject, or the login is refused. */
export async function tryClaimsOfPeople(numRuns: number): Promise<void> {
  const stub = await stubIssuer()
  const { issuer } = stub
  const provider = oidcProvider(
    {
      kind: 'oidc',
      id: 'oidc',
      name: 'Example',
      issuer,
      clientId: 'devctl',
      allow: [{ claim: 'groups', value: 'dev' }],
    },
    { callback: `${AUDIENCE}/login/oidc/callback`, clientSecret: () => CLIENT_SECRET, now: Date.now },
  )
  const more = fc.record(
    {
      sub: claim('ann', 'x'.repeat(256), ''),
      aud: claim('devctl', ['devctl'], 'other'),
      azp: claim('devctl', 'other'),
      iss: claim(issuer, 'https://evil.example'),
      exp: claim(seconds() + 3000, 1),
      nonce: claim('x'),
      groups: claim('dev', ['dev'], ['devs'], [['dev']]),
      preferred_username: claim('ann', 'an\nn', '\u202e'),
      name: claim('Ann', '<script>'),
      email: claim('ann@example.com'),
      email_verified: claim('true', true),
    },
    { requiredKeys: [] },
  )
  try {
    await fc.assert(
      fc.asyncProperty(more, async claims => {
        stub.person = { sub: 'ann', preferred_username: 'ann' }
        stub.wrong = { claims }
        const flow = { state: 's', nonce: 'n', verifier: 'v'.repeat(43) }
        const { headers } = await fetch(await provider.begin(flow), { redirect: 'manual' })
        const back = new URL(headers.get('location')!)
        const found = await provider.finish(back, flow).catch(error => {
          expect(error).toBeInstanceOf(LoginError)
          return undefined
        })
        if (!found) return
        const { identity } = found
        expect(identity).toMatchObject({ issuer, subject: 'ann' })
        expect([claims.groups].flat(1)).toContain('dev')
        for (const shown of [identity.login, identity.name ?? '', identity.email ?? '']) {
          expect(typeof shown).toBe('string')
          expect(shown).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u)
          expect(shown.length).toBeLessThanOrEqual(255)
        }
      }),
      { numRuns },
    )
  } finally {
    stub.close()
  }
}
