import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { presentedCertificate } from '../../adapters/http/presented-certificate.ts'
import { connectPlatform } from '../../operations/platform/connect-platform.ts'
import { keepOwnCertificate, ownFingerprint } from '../../operations/platform/own-certificate.ts'
import { trustOwnAuthority, type UnknownAuthority } from '../../operations/platform/trust.ts'
import { MemoryCluster } from '../memory-cluster/memory-cluster.ts'

// The authority that `devctl platform install --own-ca` makes, and how a command line comes to believe it.

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
  const data = (await cluster.get(ref))!['data'] as Readonly<Record<string, string>> // a Secret's
  const text = (key: string) => Buffer.from(data[key]!, 'base64').toString()
  return { cluster, fingerprint, cert: text('tls.crt'), key: text('tls.key') }
}

describe('the authority of a platform', () => {
  test('is made once, and signs for the platform and the hosts of environments', async () => {
    const first = await made(undefined, 'dev.example.com')
    expect(await ownFingerprint(first.cluster, signal)).toBe(first.fingerprint)
    const leaf = new X509Certificate(first.cert)
    expect(leaf.subjectAltName).toBe('DNS:*.dev.example.com, DNS:dev.example.com')
    expect(leaf.ca).toBe(false)
    // Browsers refuse certificates that are good for longer.
    expect(Date.parse(leaf.validTo) - Date.parse(leaf.validFrom)).toBeLessThanOrEqual(398 * DAY)
    expect(await made(first.cluster, 'dev.example.com')).toEqual(first)
  })

  test('signs anew for another domain, and some months before the end', async () => {
    const first = await made()
    const other = await made(first.cluster, 'new.example.com')
    expect(other.fingerprint).toBe(first.fingerprint)
    expect(new X509Certificate(other.cert).checkHost('platform.new.example.com')).toBeDefined()
    const later = await made(first.cluster, 'new.example.com', Date.now() + 300 * DAY)
    expect(later.fingerprint).toBe(first.fingerprint)
    expect(later.cert).not.toBe(other.cert)
  })
})

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

  test('does not believe an authority that nobody has told it', async () => {
    await expect(info('nobody')).rejects.toThrow('does not answer')
    await expect(
      trustOwnAuthority(around('nobody'), { url, fingerprint: undefined, ask: undefined, signal }),
    ).rejects.toThrow('nobody here knows the authority')
    const no = async () => false
    await expect(
      trustOwnAuthority(around('nobody'), { url, fingerprint: undefined, ask: no, signal }),
    ).rejects.toThrow()
    await expect(info('nobody')).rejects.toThrow('does not answer')
  })

  test('believes the one whose fingerprint was told, in any way of writing it', async () => {
    const input = { url, ask: undefined, signal }
    const other = fingerprint.replace(/^../, pair => (pair === '00' ? '01' : '00'))
    await expect(trustOwnAuthority(around('told'), { ...input, fingerprint: other })).rejects.toThrow('is not the one')
    await trustOwnAuthority(around('told'), {
      ...input,
      fingerprint: `sha256:${fingerprint.replaceAll(':', '').toLowerCase()}`,
    })
    expect(await info('told')).toMatchObject({ domain: 'localhost' })
  })

  test('shows the fingerprint to a person, and remembers what they say', async () => {
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

  test('believes no other authority for a platform of which it knows one', async () => {
    const ask = async () => true
    await trustOwnAuthority(around('pinned'), { url, fingerprint: undefined, ask, signal })
    const other = await made()
    server.setSecureContext({ cert: other.cert, key: other.key })
    await expect(info('pinned')).rejects.toThrow('does not answer')
    // Nor is a person asked again: who was told nothing would say yes.
    await trustOwnAuthority(around('pinned'), { url, fingerprint: undefined, ask, signal })
    await expect(info('pinned')).rejects.toThrow('does not answer')
  })
})

test('a certificate alone has no authority to show', async () => {
  const { cert, key } = await made()
  const [leaf = ''] = cert.split(/(?<=-----END CERTIFICATE-----\n)/)
  const server = createServer({ cert: leaf, key })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const found = await presentedCertificate(new URL(`https://localhost:${port}`), signal)
  expect([found.root, found.distrust]).toEqual([undefined, 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'])
  server.close()
})
