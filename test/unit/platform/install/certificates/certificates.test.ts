import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { connect, createServer } from 'node:tls'
import { describe, expect, test } from 'vitest'
import {
  type KeyedCertificate,
  makeAuthority,
  makeCertificate,
} from '../../../../../platform/install/certificates/certificates.ts'

const NOW = Date.now()

describe('certificates', () => {
  const authority = makeAuthority('devctl builders', NOW)
  const server = makeCertificate(authority, { name: 'builders.test', use: 'server' }, NOW)
  const client = makeCertificate(authority, { name: 'platform', use: 'client' }, NOW)

  test('an authority signs itself and other certificates, which are valid for years', () => {
    const [root, leaf] = [new X509Certificate(authority.certificate), new X509Certificate(server.certificate)]
    expect([root.ca, leaf.ca]).toEqual([true, false])
    expect(root.verify(root.publicKey)).toBe(true)
    expect(leaf.checkIssued(root) && leaf.verify(root.publicKey)).toBe(true)
    expect(leaf.checkHost('builders.test')).toBe('builders.test')
    expect(leaf.checkHost('other.test')).toBeUndefined()
    expect(Date.parse(leaf.validTo)).toBeGreaterThan(NOW + 9 * 365 * 86_400_000)
    expect(new X509Certificate(makeAuthority('later', Date.UTC(2049, 0)).certificate).validTo).toContain('2058')
  })

  test('each certificate has its own serial number', () => {
    const numbers = [authority, server, client].map(({ certificate }) => new X509Certificate(certificate).serialNumber)
    expect(new Set(numbers).size).toBe(3)
  })

  /** Connects as `who`, and returns the name that the server sees, or the reason why there is no connection. */
  async function meet(who: KeyedCertificate | undefined, trusted = authority, servername = 'builders.test') {
    const listening = createServer({
      key: server.key,
      cert: server.certificate,
      ca: authority.certificate,
      requestCert: true,
      rejectUnauthorized: true,
    })
    await once(listening.listen(0, '127.0.0.1'), 'listening')
    const { port } = listening.address() as AddressInfo
    const seen = new Promise<string>(resolve => {
      listening.once('tlsClientError', error => resolve(`refused: ${error.message}`))
      listening.once('secureConnection', socket => {
        resolve(`sees ${socket.getPeerCertificate().subject.CN}`)
        socket.destroy()
      })
      const socket = connect({
        port,
        servername,
        ca: trusted.certificate,
        ...(who && { key: who.key, cert: who.certificate }),
      })
      socket.once('error', error => resolve(`left: ${error.message}`))
    })
    try {
      return await seen
    } finally {
      listening.close()
    }
  }

  test('client and server authenticate each other with their certificates', async () => {
    expect(await meet(client)).toBe('sees platform')
  })

  test.each([
    ['nobody', undefined, authority, 'builders.test'],
    [
      'one of another authority of the same name',
      makeCertificate(makeAuthority('devctl builders', NOW), { name: 'platform', use: 'client' }, NOW),
      authority,
      'builders.test',
    ],
    ['a server, in the place of a client', server, authority, 'builders.test'],
    ['a client that trusts another authority', client, makeAuthority('devctl builders', NOW), 'builders.test'],
    ['a client that looks for another server', client, authority, 'other.test'],
  ] as const)('the connection fails for %s', async (_, who, trusted, servername) => {
    expect(await meet(who, trusted, servername)).toMatch(/^(refused|left): /)
  })
})
