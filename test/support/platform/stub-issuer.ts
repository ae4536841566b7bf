import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { CLIENT_SECRET } from './open-platform.ts'

type Claims = Readonly<Record<string, unknown>>
type Person = Claims & { readonly sub: string }

/** An OpenID Connect provider of the test, with real signatures; it logs every user in at once. */
export interface StubIssuer {
  readonly issuer: string
  /** User of the next login. */
  person: Person
  /** Does something else than it should; true: the request is answered. */
  fault: (path: string, response: ServerResponse) => boolean
  /** Deviations of the ID token from a valid one. */
  wrong: { readonly claims?: Claims; readonly isOtherKey?: boolean; readonly isUnsigned?: boolean }
  /** Refresh tokens that it still takes, and whose they are. */
  readonly refreshTokens: Map<string, Person>
  /** Claims about a user after a refresh; if absent, those of the login, without an ID token. */
  refreshed?: { readonly claims: Claims; readonly hasIdToken?: boolean }
  /** No refresh tokens are given out. */
  isWithoutRefresh: boolean
  /** The scopes that it names; clients keep them for an hour. */
  scopes: readonly string[]
  readonly requests: string[]
  /** A token as a CI job has one. */
  sign(claims: Claims, isOtherKey?: boolean): Promise<string>
  close(): void
}

const CLIENT = 'devctl'

export async function stubIssuer(): Promise<StubIssuer> {
  const [key, other] = await Promise.all([generateKeyPair('RS256'), generateKeyPair('RS256')])
  const jwk = { ...(await exportJWK(key.publicKey)), kid: 'one', alg: 'RS256', use: 'sig' }
  const codes = new Map<string, { readonly nonce: string; readonly challenge: string; readonly person: Person }>()
  const accessTokens = new Map<string, Claims>()
  const server = createServer((request, response) => {
    void serve(request, response).catch(error => response.writeHead(500).end(String(error)))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const stub: StubIssuer = {
    issuer,
    person: { sub: 'nobody' },
    fault: () => false,
    wrong: {},
    refreshTokens: new Map(),
    isWithoutRefresh: false,
    scopes: ['openid', 'offline_access'],
    requests: [],
    sign: (claims, isOtherKey) =>
      new SignJWT(claims)
        .setProtectedHeader({ alg: 'RS256', kid: 'one' })
        .setIssuedAt()
        .sign(isOtherKey ? other.privateKey : key.privateKey),
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', issuer)
    stub.requests.push(url.pathname)
    if (stub.fault(url.pathname, response)) return
    const send = (value: object, status = 200) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
    switch (url.pathname) {
      case '/.well-known/openid-configuration':
        send({
          issuer,
          authorization_endpoint: `${issuer}/authorize`,
          token_endpoint: `${issuer}/token`,
          userinfo_endpoint: `${issuer}/userinfo`,
          jwks_uri: `${issuer}/keys`,
          response_types_supported: ['code'],
          subject_types_supported: ['public'],
          id_token_signing_alg_values_supported: ['RS256'],
          scopes_supported: stub.scopes,
        })
        return
      case '/keys':
        send({ keys: [jwk] })
        return
      case '/authorize': {
        const value = (name: string) => url.searchParams.get(name) ?? ''
        const code = randomBytes(8).toString('hex')
        codes.set(code, { nonce: value('nonce'), challenge: value('code_challenge'), person: stub.person })
        const back = new URL(value('redirect_uri'))
        back.searchParams.set('code', code)
        back.searchParams.set('state', value('state'))
        response.writeHead(302, { location: back.href }).end()
        return
      }
      case '/token':
        await token(request, send)
        return
      case '/userinfo':
        {
          const person = accessTokens.get((request.headers.authorization ?? '').replace('Bearer ', ''))
          if (person) send({ ...person, email_verified: 'true' })
          else send({ error: 'invalid_token' }, 401)
        }
        return
      default:
        send({}, 404)
    }
  }

  async function token(request: IncomingMessage, send: (value: object, status?: number) => void): Promise<void> {
    const basic = Buffer.from((request.headers.authorization ?? '').replace('Basic ', ''), 'base64').toString()
    if (decodeURIComponent(basic) !== `${CLIENT}:${CLIENT_SECRET}`) return send({ error: 'invalid_client' }, 401)
    const form = new URLSearchParams(await text(request))
    const given = (person: Person, claims: Claims) => {
      const [access, next] = [`access-${randomBytes(8).toString('hex')}`, `refresh-${randomBytes(8).toString('hex')}`]
      accessTokens.set(access, claims)
      const plain = { access_token: access, token_type: 'Bearer', expires_in: 60 }
      if (stub.isWithoutRefresh) return plain
      stub.refreshTokens.set(next, person)
      return { ...plain, refresh_token: next }
    }
    const now = Math.floor(Date.now() / 1000)
    if (form.get('grant_type') === 'refresh_token') {
      const old = form.get('refresh_token') ?? ''
      const person = stub.refreshTokens.get(old)
      if (!person) return send({ error: 'invalid_grant' }, 400)
      stub.refreshTokens.delete(old)
      const { claims, hasIdToken } = stub.refreshed ?? { claims: person }
      const said: Person = { sub: person.sub, ...claims }
      const token = hasIdToken && (await stub.sign({ iss: issuer, aud: CLIENT, exp: now + 60, ...said }))
      return send({ ...given(person, hasIdToken ? { sub: said.sub } : said), ...(token && { id_token: token }) })
    }
    const code = codes.get(form.get('code') ?? '')
    codes.delete(form.get('code') ?? '')
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url')
    if (!code || challenge !== code.challenge) return send({ error: 'invalid_grant' }, 400)
    const { claims = {}, isOtherKey, isUnsigned } = stub.wrong
    const all = {
      iss: issuer,
      aud: CLIENT,
      sub: code.person['sub'],
      nonce: code.nonce,
      exp: now + 60,
      ...claims,
    }
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const signed = isUnsigned
      ? `${part({ alg: 'none' })}.${part({ ...all, iat: now })}.`
      : await stub.sign(all, isOtherKey)
    send({ ...given(code.person, code.person), id_token: signed })
  }

  return stub
}
