import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { CLIENT_SECRET } from './open-platform.ts'

type Claims = Readonly<Record<string, unknown>>

/** An OpenID Connect provider of the test, with real signatures; everybody is logged in there at once. */
export interface StubIssuer {
  readonly issuer: string
  /** Who logs in next. */
  person: Claims & { readonly sub: string }
  /** Does something else than it should; true: the request is answered. */
  fault: (path: string, response: ServerResponse) => boolean
  /** What of an ID token is different. */
  wrong: { readonly claims?: Claims; readonly isOtherKey?: boolean; readonly isUnsigned?: boolean }
  /** Refresh tokens that it still takes. */
  readonly refreshTokens: Set<string>
  /** No refresh tokens are given out. */
  isWithoutRefresh: boolean
  readonly requests: string[]
  /** A token as a CI job has one. */
  sign(claims: Claims, isOtherKey?: boolean): Promise<string>
  close(): void
}

const CLIENT = 'devctl'

export async function stubIssuer(): Promise<StubIssuer> {
  const [key, other] = await Promise.all([generateKeyPair('RS256'), generateKeyPair('RS256')])
  const jwk = { ...(await exportJWK(key.publicKey)), kid: 'one', alg: 'RS256', use: 'sig' }
  const codes = new Map<string, { readonly nonce: string; readonly challenge: string; readonly person: Claims }>()
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
    refreshTokens: new Set(),
    isWithoutRefresh: false,
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
          scopes_supported: ['openid', 'offline_access'],
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
        send({ ...stub.person, email_verified: 'true' })
        return
      default:
        send({}, 404)
    }
  }

  async function token(request: IncomingMessage, send: (value: object, status?: number) => void): Promise<void> {
    const basic = Buffer.from((request.headers.authorization ?? '').replace('Basic ', ''), 'base64').toString()
    if (decodeURIComponent(basic) !== `${CLIENT}:${CLIENT_SECRET}`) return send({ error: 'invalid_client' }, 401)
    const form = new URLSearchParams(await text(request))
    const refresh = () => {
      if (stub.isWithoutRefresh) return {}
      const next = `refresh-${randomBytes(8).toString('hex')}`
      stub.refreshTokens.add(next)
      return { refresh_token: next }
    }
    const plain = { access_token: 'access', token_type: 'Bearer', expires_in: 60 }
    if (form.get('grant_type') === 'refresh_token') {
      if (!stub.refreshTokens.delete(form.get('refresh_token') ?? '')) return send({ error: 'invalid_grant' }, 400)
      return send({ ...plain, ...refresh() })
    }
    const code = codes.get(form.get('code') ?? '')
    codes.delete(form.get('code') ?? '')
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url')
    if (!code || challenge !== code.challenge) return send({ error: 'invalid_grant' }, 400)
    const { claims = {}, isOtherKey, isUnsigned } = stub.wrong
    const now = Math.floor(Date.now() / 1000)
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
    send({ ...plain, id_token: signed, ...refresh() })
  }

  return stub
}
