import { once } from 'node:events'
import { createServer as createHttp, type RequestListener } from 'node:http'
import { createServer as createHttps } from 'node:https'
import { type AddressInfo, createServer as createTcp, type Server } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { NoAnswer } from '../../../../../adapters/http/exchange.ts'
import { makeAuthority, makeCertificate } from '../../../../../platform/install/certificates/certificates.ts'
import type { NeededServer } from '../../../../../platform/rules/dependencies.ts'
import { reachFailure, toReachFailure } from '../../../../../platform/server/http/reach.ts'
import { freePort } from '../../../../support/develop/free-port.ts'
import { CERTIFICATE, PRIVATE_KEY } from '../../../../support/gitops/certificates.ts'

const servers: Server[] = []
afterEach(() => {
  for (const server of servers.splice(0)) {
    if ('closeAllConnections' in server) (server as ReturnType<typeof createHttp>).closeAllConnections()
    server.close()
  }
})

async function listen(server: Server): Promise<string> {
  servers.push(server)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}
const http = async (answer: RequestListener) => `http://${await listen(createHttp(answer))}`
const oidc = (address: string): NeededServer => ({ kind: 'oidc', name: 'Git', address })
const check = (one: NeededServer, limit?: number) => reachFailure(one, AbortSignal.timeout(20_000), limit)

describe('the check of a provider', () => {
  test('a provider whose issuer has a slash at the end is accepted, except for CI jobs', async () => {
    const paths: string[] = []
    const address: string = await http(({ url = '' }, response) => {
      paths.push(url)
      response.end(JSON.stringify({ issuer: `${address}/` }))
    })
    expect(await check(oidc(address))).toBeUndefined()
    expect(paths).toEqual(['/.well-known/openid-configuration'])
    // The tokens of CI jobs are compared letter by letter.
    expect(await check({ ...oidc(address), kind: 'ci' })).toEqual({ kind: 'issuer', found: `${address}/` })
  })

  test('a provider with another issuer is reported', async () => {
    const address = await http((_, response) => response.end('{"issuer":"https://login.example.com"}'))
    expect(await check(oidc(address))).toEqual({ kind: 'issuer', found: 'https://login.example.com' })
  })

  test('an error, a redirect or a page instead of the discovery document is reported', async () => {
    const url = (address: string) => `${address}/.well-known/openid-configuration`
    const broken = await http((_, response) => response.writeHead(503).end())
    expect(await check(oidc(broken))).toEqual({ kind: 'status', url: url(broken), status: 503 })
    const moved = await http((_, response) => response.writeHead(302, { location: 'https://10.0.0.1/' }).end())
    expect(await check(oidc(moved))).toEqual({ kind: 'status', url: url(moved), status: 302 })
    const page = await http((_, response) => response.end('<html>log in</html>'))
    expect(await check(oidc(page))).toEqual({ kind: 'no-document', url: url(page) })
    const other = await http((_, response) => response.end('null'))
    expect(await check(oidc(other))).toEqual({ kind: 'no-document', url: url(other) })
  })

  test('a provider that is down, silent, or does not speak TLS is reported', async () => {
    expect(await check(oidc(`https://127.0.0.1:${await freePort()}`))).toEqual({ kind: 'refused' })
    const silent = await listen(createTcp(() => {}))
    expect(await check(oidc(`https://${silent}`), 300)).toEqual({ kind: 'timeout', seconds: 0.3 })
    const plain = await listen(createTcp(socket => socket.on('error', () => {}).end('220 mail.example.com\r\n')))
    expect(await check(oidc(`https://${plain}`))).toEqual({ kind: 'not-tls' })
  })

  test('a certificate that is not trusted is reported', async () => {
    const server = createHttps({ cert: CERTIFICATE, key: PRIVATE_KEY }, (_, response) => response.end('{}'))
    expect(await check(oidc(`https://${await listen(server)}`))).toEqual({
      kind: 'untrusted',
      detail: 'self-signed certificate',
    })
    const authority = makeAuthority('a private authority', Date.now())
    const { certificate: cert, key } = makeCertificate(authority, { name: 'localhost', use: 'server' }, Date.now())
    const own = createHttps({ cert, key }, (_, response) => response.end('{}'))
    expect(await check(oidc(`https://${await listen(own)}`))).toEqual({
      kind: 'untrusted',
      detail: 'unable to verify the first certificate',
    })
  })

  test('an aborted signal ends the check', async () => {
    const silent = await listen(createTcp(() => {}))
    const ended = new AbortController()
    setTimeout(() => ended.abort(new Error('over')), 50)
    await expect(reachFailure(oidc(`http://${silent}`), ended.signal)).rejects.toThrow('over')
  })
})

describe('the check of a forge', () => {
  test('a forge is checked by a request to its API, without credentials', async () => {
    const asked: unknown[] = []
    const address = await http(({ url, headers: { authorization } }, response) => {
      asked.push([url, authorization])
      response.writeHead(403).end()
    })
    const forge = { kind: 'forge', name: 'x', address, forge: 'gitea' } as const
    expect(await check(forge)).toBeUndefined()
    expect(await check({ ...forge, forge: 'gitlab', api: `${address}/elsewhere/` })).toBeUndefined()
    expect(await check({ kind: 'github', name: 'x', address })).toBeUndefined()
    expect(asked).toEqual([
      ['/api/v1/version', undefined],
      ['/elsewhere/version', undefined],
      ['/login', undefined],
      ['/api/v3/meta', undefined],
    ])
  })

  test('a forge without an API at its address is reported', async () => {
    const address = await http((_, response) => response.writeHead(404).end())
    expect(await check({ kind: 'forge', name: 'x', address, forge: 'gitea' })).toEqual({
      kind: 'status',
      url: `${address}/api/v1/version`,
      status: 404,
    })
  })
})

test.each([
  ['ENOTFOUND', { kind: 'name' }],
  ['EAI_AGAIN', { kind: 'name' }],
  ['ECONNREFUSED', { kind: 'refused' }],
  ['EHOSTUNREACH', { kind: 'no-route' }],
  ['ETIMEDOUT', { kind: 'timeout', seconds: 5 }],
  ['ECONNRESET', { kind: 'cut' }],
  ['EPROXY', { kind: 'proxy', detail: 'text' }],
  ['CERT_HAS_EXPIRED', { kind: 'expired' }],
  ['ERR_TLS_CERT_ALTNAME_INVALID', { kind: 'wrong-host' }],
  ['SELF_SIGNED_CERT_IN_CHAIN', { kind: 'untrusted', detail: 'text' }],
  ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', { kind: 'client-certificate' }],
  ['ESOMETHING', { kind: 'other', detail: 'text' }],
] as const)('the error %s is classified', (code, wanted) => {
  expect(toReachFailure(Object.assign(new Error('text'), { code }))).toEqual(wanted)
})

test('an answer that does not come in time is classified as a timeout', () => {
  expect(toReachFailure(new NoAnswer(false, 5000))).toEqual({ kind: 'timeout', seconds: 5 })
})
