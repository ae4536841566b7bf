import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:https'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { presentedCertificate } from '../../../../../adapters/http/presented-certificate.ts'
import {
  makeAuthority,
  makeCertificate,
  maySignFor,
} from '../../../../../platform/install/certificates/certificates.ts'
import { givenAuthority } from '../../../../../platform/install/certificates/given-authority.ts'
import { keepOwnCertificate, ownFingerprint } from '../../../../../platform/install/certificates/own-certificate.ts'
import { connectPlatform } from '../../../../../platform/session/connect-platform.ts'
import { trustOwnAuthority, type UnknownAuthority } from '../../../../../platform/session/trust.ts'
import type { Surroundings } from '../../../../../project/contexts/home.ts'
import { startProxy } from '../../../../support/cluster/proxy.ts'
import { MemoryCluster } from '../../../../support/memory-cluster/memory-cluster.ts'

// `devctl platform install --own-ca` makes an authority; these tests show how a command line comes to trust it.

const signal = AbortSignal.timeout(60_000)
const DAY = 86_400_000
const INFO = { version: '0.1.0', minCli: '0.1.0', domain: 'localhost', login: [], kubernetes: { server: 'https://k' } }

async function made(
  cluster = new MemoryCluster({ namespaces: ['devctl-platform'] }),
  domain = 'localhost',
  now = Date.now(),
) {
  const fingerprint = await keepOwnCertificate(cluster, domain, now, signal)
  const ref = { apiVersion: 'v1', kind: 'Secret', name: 'platform-tls', namespace: 'devctl-platform' }
  const data = (await cluster.get(ref))!['data'] as Readonly<Record<string, string>> // A Secret has text.
  const text = (key: string) => Buffer.from(data[key]!, 'base64').toString()
  return { cluster, fingerprint, cert: text('tls.crt'), key: text('tls.key') }
}

describe('the authority of a platform', () => {
  test('the authority is created once, and signs for the platform and the hosts of environments', async () => {
    const first = await made(undefined, 'dev.example.com')
    expect(await ownFingerprint(first.cluster, signal)).toBe(first.fingerprint)
    const leaf = new X509Certificate(first.cert)
    expect(leaf.subjectAltName).toBe('DNS:*.dev.example.com, DNS:dev.example.com')
    expect(leaf.ca).toBe(false)
    // Browsers refuse certificates that are good for longer.
    expect(Date.parse(leaf.validTo) - Date.parse(leaf.validFrom)).toBeLessThanOrEqual(398 * DAY)
    expect(await made(first.cluster, 'dev.example.com')).toEqual(first)
  })

  test('another domain gets another authority, and the certificate is renewed before its end', async () => {
    const first = await made()
    const other = await made(first.cluster, 'new.example.com')
    expect(other.fingerprint).not.toBe(first.fingerprint)
    expect(await ownFingerprint(first.cluster, signal)).toBe(other.fingerprint)
    expect(new X509Certificate(other.cert).checkHost('platform.new.example.com')).toBeDefined()
    const later = await made(first.cluster, 'new.example.com', Date.now() + 300 * DAY)
    expect(later.fingerprint).toBe(other.fingerprint)
    expect(later.cert).not.toBe(other.cert)
  })
})

describe('trust in the authority of a domain', () => {
  const domain = 'dev.example.com'
  const authority = makeAuthority('devctl platform', Date.now(), domain)

  /** Returns the reason why the authority is not trusted for the certificate of a host; undefined if it is trusted. */
  async function distrust(name: string, signer = authority): Promise<string | undefined> {
    const { certificate, key } = makeCertificate(signer, { name, use: 'server', days: 1 }, Date.now())
    const server = createServer({ cert: `${certificate}${signer.certificate}`, key })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const { port } = server.address() as AddressInfo
    const socket = connect({
      host: '127.0.0.1',
      port,
      servername: name.replace('*', 'x'),
      ca: signer.certificate,
      rejectUnauthorized: false,
    })
    await once(socket, 'secureConnect')
    socket.destroy()
    server.close()
    return socket.authorized ? undefined : String(socket.authorizationError)
  }

  test.each([domain, `*.${domain}`, `platform.${domain}`, `a.b.${domain}`])('the authority covers %s', async name => {
    expect(await distrust(name)).toBeUndefined()
  })

  test.each(['example.com', 'www.example.com', `evil${domain}`, `${domain}.evil.com`, '*.example.com', 'com'])(
    'the authority does not cover %s',
    async name => {
      // Node.js has no word of its own for a violation of name constraints.
      expect(await distrust(name)).toBe('UNSPECIFIED')
      expect(await distrust(name, makeAuthority('unbound', Date.now()))).toBeUndefined()
    },
  )

  test('the authority may sign no other authority, and its name constraints are critical', async () => {
    const { raw } = new X509Certificate(authority.certificate)
    // Basic constraints allow an authority, and none below it.
    expect(raw.includes(Buffer.from('30060101ff020100', 'hex'))).toBe(true)
    // Name constraints are critical.
    expect(raw.includes(Buffer.from('0603551d1e0101ff', 'hex'))).toBe(true)
  })

  test('maySignFor accepts an authority of the same domain, or of no domain', () => {
    expect(maySignFor(authority.certificate, domain)).toBe(true)
    expect(maySignFor(authority.certificate, `x.${domain}`)).toBe(false)
    expect(maySignFor(authority.certificate, 'example.com')).toBe(false)
    expect(maySignFor(makeAuthority('any', Date.now()).certificate, domain)).toBe(true)
  })
})

const leafOf = (chain: string): string => chain.split(/(?<=-----END CERTIFICATE-----\n)/)[0]!

describe('a command line', () => {
  let server: Server
  let url: string
  let fingerprint: string
  const home = mkdtempSync(join(tmpdir(), 'devctl-trust-'))
  const around = (name: string) => ({ cwd: '/', env: { DEVCTL_HOME: join(home, name) } })
  const info = (name: string) => connectPlatform(url, undefined, around(name).env).call('GET /info', {}, signal)
  const stored = (name: string) => JSON.parse(readFileSync(join(home, name, 'contexts.json'), 'utf8'))

  beforeAll(async () => {
    const own = await made()
    fingerprint = own.fingerprint
    server = createServer({ cert: own.cert, key: own.key }, (_, answer) => {
      answer.setHeader('content-type', 'application/json').end(JSON.stringify(INFO))
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    url = `https://localhost:${(server.address() as AddressInfo).port}`
  })
  afterAll(() => {
    server.closeAllConnections()
    server.close()
    rmSync(home, { recursive: true })
  })

  test('a command line does not trust an authority without a fingerprint or consent', async () => {
    await expect(info('nobody')).rejects.toMatchObject({
      message: expect.stringContaining('does not answer'),
      hint: expect.stringContaining('`NODE_EXTRA_CA_CERTS`'),
    })
    await expect(
      trustOwnAuthority(around('nobody'), { url, fingerprint: undefined, ask: undefined, signal }),
    ).rejects.toThrow('this machine does not know the authority')
    const no = async () => false
    await expect(
      trustOwnAuthority(around('nobody'), { url, fingerprint: undefined, ask: no, signal }),
    ).rejects.toThrow()
    await expect(info('nobody')).rejects.toThrow('does not answer')
  })

  test('a command line trusts the authority of a given fingerprint, however it is written', async () => {
    const input = { url, ask: undefined, signal }
    const other = fingerprint.replace(/^../, pair => (pair === '00' ? '01' : '00'))
    await expect(trustOwnAuthority(around('told'), { ...input, fingerprint: other })).rejects.toThrow(
      'does not have the given fingerprint',
    )
    await trustOwnAuthority(around('told'), {
      ...input,
      fingerprint: `sha256:${fingerprint.replaceAll(':', '').toLowerCase()}`,
    })
    expect(await info('told')).toMatchObject({ domain: 'localhost' })
  })

  test('a command line asks once about a fingerprint, and stores the authority', async () => {
    const asked: UnknownAuthority[] = []
    const ask = async (one: UnknownAuthority) => asked.push(one) > 0
    await trustOwnAuthority(around('asked'), { url, fingerprint: undefined, ask, signal })
    expect(asked).toEqual([{ host: new URL(url).host, name: 'devctl platform localhost', fingerprint }])
    expect(await info('asked')).toMatchObject({ domain: 'localhost' })
    await trustOwnAuthority(around('asked'), { url, fingerprint: undefined, ask, signal })
    expect(asked).toHaveLength(1)
    expect(stored('asked').contexts[url].ca).toContain('BEGIN CERTIFICATE')
    expect(stored('asked').current).toBeUndefined()
  })

  describe('a given fingerprint', () => {
    const told = (name: string, more: object = {}) => ({ ...around(name), ...more })
    const compare = (to: string, by: Surroundings) =>
      trustOwnAuthority(by, { url: to, fingerprint, ask: undefined, signal })

    test('a fingerprint that a dropped connection leaves unchecked is an error', async () => {
      const dropping = createTcpServer(socket => socket.destroy())
      await once(dropping.listen(0, '127.0.0.1'), 'listening')
      const to = `https://localhost:${(dropping.address() as AddressInfo).port}`
      await expect(compare(to, told('dropped'))).rejects.toThrow('could not be compared with the given fingerprint')
      // The login reports the problem when no fingerprint is given.
      await trustOwnAuthority(told('dropped'), { url: to, fingerprint: undefined, ask: undefined, signal })
      dropping.close()
    })

    test('a certificate without an authority of its own is refused', async () => {
      const { cert, key } = await made()
      const alone = createServer({ cert: leafOf(cert), key }, (_, answer) => answer.writeHead(404).end())
      await once(alone.listen(0, '127.0.0.1'), 'listening')
      const to = `https://localhost:${(alone.address() as AddressInfo).port}`
      await expect(compare(to, told('alone'))).rejects.toThrow('it presents no authority of its own')
      alone.close()
    })

    test('an authority that the platform publishes is compared if its certificate comes without it', async () => {
      const [signer, other] = [makeAuthority('corp', Date.now()), makeAuthority('other', Date.now())]
      const input = { name: 'localhost', use: 'server', days: 1 } as const
      const { certificate, key } = makeCertificate(signer, input, Date.now())
      const authorities = `${other.certificate}${signer.certificate}`
      const corp = createServer({ cert: certificate, key }, (_, answer) => {
        answer.setHeader('content-type', 'application/json').end(JSON.stringify({ ...INFO, authorities }))
      })
      await once(corp.listen(0, '127.0.0.1'), 'listening')
      const to = `https://localhost:${(corp.address() as AddressInfo).port}`
      const given = await givenAuthority({ env: {}, signal }, to, authorities)
      expect(given).toBe(new X509Certificate(signer.certificate).fingerprint256)
      expect(await givenAuthority({ env: {}, signal }, to, other.certificate)).toBeUndefined()
      const by = (name: string, fingerprint: string) =>
        trustOwnAuthority(told(name), { url: to, fingerprint, ask: undefined, signal })
      await expect(by('unpublished', fingerprint)).rejects.toThrow('it presents no authority of its own')
      await by('published', given!)
      const domain = (name: string) => connectPlatform(to, undefined, told(name).env).call('GET /info', {}, signal)
      expect(await domain('published')).toMatchObject({ domain: 'localhost' })
      // A published authority that has not signed the certificate makes no connection trusted.
      await by('wrong', new X509Certificate(other.certificate).fingerprint256)
      await expect(domain('wrong')).rejects.toThrow('does not answer')
      corp.closeAllConnections()
      corp.close()
    })

    test('an address without TLS is refused', async () => {
      await expect(compare('http://127.0.0.1:9', told('plain'))).rejects.toThrow('has no certificate')
    })

    test('the fingerprint is compared through a proxy', async () => {
      const [right, wrong] = [await made(undefined, 'devctl.test'), await made(undefined, 'devctl.test')]
      const behind = createServer({ cert: right.cert, key: right.key })
      await once(behind.listen(0, '127.0.0.1'), 'listening')
      const proxy = await startProxy(new URL(`http://127.0.0.1:${(behind.address() as AddressInfo).port}`))
      const to = 'https://platform.devctl.test'
      const env = (name: string) => ({ ...around(name).env, HTTPS_PROXY: proxy.url })
      const by = (name: string, fingerprint: string) =>
        trustOwnAuthority({ cwd: '/', env: env(name) }, { url: to, fingerprint, ask: undefined, signal })
      await expect(by('proxy', wrong.fingerprint)).rejects.toThrow('does not have the given fingerprint')
      await by('proxy', right.fingerprint)
      expect(stored('proxy').contexts[to].ca).toContain('BEGIN CERTIFICATE')
      expect(proxy.asked).toEqual(['platform.devctl.test:443', 'platform.devctl.test:443'])
      proxy.close()
      await expect(by('no-proxy', right.fingerprint)).rejects.toThrow('could not be compared')
      behind.close()
    })
  })

  test('a command line trusts no other authority for a platform that it already knows', async () => {
    const ask = async () => true
    await trustOwnAuthority(around('pinned'), { url, fingerprint: undefined, ask, signal })
    const other = await made()
    server.setSecureContext({ cert: other.cert, key: other.key })
    // The hint does not offer a file with another authority, which would not help.
    await expect(info('pinned')).rejects.toMatchObject({
      message: expect.stringContaining('does not answer'),
      hint: `this machine trusts only the authority that this platform had at your login. Ask its operator whether it has another certificate now; then \`devctl context delete ${url}\`, and log in again`,
    })
    // The user is not asked again, because a user who was told nothing would say yes.
    await trustOwnAuthority(around('pinned'), { url, fingerprint: undefined, ask, signal })
    await expect(info('pinned')).rejects.toThrow('does not answer')
  })
})

test('presentedCertificate finds no root if the server presents only its own certificate', async () => {
  const { cert, key } = await made()
  const [leaf = ''] = cert.split(/(?<=-----END CERTIFICATE-----\n)/)
  const server = createServer({ cert: leaf, key })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const found = await presentedCertificate(new URL(`https://localhost:${port}`), signal)
  expect([found.root, found.distrust]).toEqual([undefined, 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'])
  server.close()
})
