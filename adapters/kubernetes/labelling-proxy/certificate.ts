import { createHash, createPublicKey, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'

/** Key and certificate of a server, and the certificate of the authority that its clients trust, in PEM. */
export interface ServerCertificate {
  readonly key: string
  readonly certificate: string
  readonly authority: string
}

/** Lifetime of the certificates in milliseconds, longer than any command takes. */
const LIFETIME = 30 * 86_400_000

/**
 * Creates a certificate for `127.0.0.1` and the authority that signed it; the authority's key is discarded immediately.
 * A separate authority with key identifiers is needed because some TLS libraries (for example in Python, with strict
 * checks) reject self-signed certificates. Libraries for this add twenty packages, so the two certificates are encoded
 * here according to RFC 5280.
 */
export function makeCertificate(now: number): ServerCertificate {
  const root = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const server = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const rootId = keyIdentifier(root.publicKey)
  const issuer = { name: commonName('devctl'), id: rootId, key: root.privateKey }
  const authority = certificate(issuer, commonName('devctl'), root.publicKey, now, [
    extension('2.5.29.19', true, sequence(der(0x01, [0xff]), der(0x02, [0]))), // basicConstraints: an authority for servers only
    extension('2.5.29.15', true, der(0x03, [1, 0x06])), // keyUsage: keyCertSign, cRLSign
    extension('2.5.29.14', false, der(0x04, rootId)), // subjectKeyIdentifier
  ])
  const own = certificate(issuer, commonName('127.0.0.1'), server.publicKey, now, [
    extension('2.5.29.19', true, sequence()),
    extension('2.5.29.15', true, der(0x03, [7, 0x80])), // digitalSignature
    extension('2.5.29.37', false, sequence(identifier('1.3.6.1.5.5.7.3.1'))), // extendedKeyUsage: serverAuth
    extension('2.5.29.17', false, sequence(der(0x87, [127, 0, 0, 1]), der(0x82, Buffer.from('localhost')))), // subjectAltName
    extension('2.5.29.14', false, der(0x04, keyIdentifier(server.publicKey))),
    extension('2.5.29.35', false, sequence(der(0x80, rootId))), // authorityKeyIdentifier
  ])
  return {
    key: server.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    certificate: toPem(own),
    authority: toPem(authority),
  }
}

interface Issuer {
  readonly name: Buffer
  readonly id: Buffer
  readonly key: KeyObject
}

function certificate(
  issuer: Issuer,
  subject: Buffer,
  key: KeyObject,
  now: number,
  extensions: readonly Buffer[],
): Buffer {
  const algorithm = sequence(identifier('1.2.840.10045.4.3.2')) // ecdsa-with-SHA256
  // The first bit is 0 (a positive number) and the second is 1, so DER needs all bytes.
  const serial = randomBytes(16)
  serial[0] = (serial[0]! & 0x3f) | 0x40
  const content = sequence(
    der(0xa0, der(0x02, [2])), // version 3
    der(0x02, serial),
    algorithm,
    issuer.name,
    sequence(time(now - 300_000), time(now + LIFETIME)),
    subject,
    key.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(...extensions)),
  )
  return sequence(content, algorithm, der(0x03, Buffer.concat([Buffer.from([0]), sign('sha256', content, issuer.key)])))
}

const commonName = (name: string) => sequence(der(0x31, sequence(identifier('2.5.4.3'), der(0x0c, Buffer.from(name)))))

const extension = (name: string, isCritical: boolean, content: Buffer) =>
  sequence(identifier(name), ...(isCritical ? [der(0x01, [0xff])] : []), der(0x04, content))

/** Returns a hash of the key, as in method (1) of RFC 5280, section 4.2.1.2. */
function keyIdentifier(key: KeyObject): Buffer {
  const point = createPublicKey(key.export({ type: 'spki', format: 'pem' }))
    .export({ type: 'spki', format: 'der' })
    .subarray(-65)
  return createHash('sha1').update(point).digest()
}

function time(milliseconds: number): Buffer {
  const text = new Date(milliseconds).toISOString().replace(/[-:T]|\.\d+/g, '')
  // Up to 2049, the year has two digits (UTCTime).
  return Number(text.slice(0, 4)) < 2050 ? der(0x17, Buffer.from(text.slice(2))) : der(0x18, Buffer.from(text))
}

function identifier(dotted: string): Buffer {
  const [first, second, ...rest] = dotted.split('.').map(Number)
  const bytes = rest.flatMap(number => {
    const parts = [number & 0x7f]
    for (let left = number >> 7; left > 0; left >>= 7) parts.unshift((left & 0x7f) | 0x80)
    return parts
  })
  return der(0x06, [first! * 40 + second!, ...bytes])
}

const sequence = (...parts: readonly Buffer[]) => der(0x30, Buffer.concat(parts))

/** Encodes a DER value: tag, length and content. */
function der(tag: number, content: Uint8Array | readonly number[]): Buffer {
  const body = Buffer.from(content)
  const length = body.length
  const head = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...head]), body])
}

const toPem = (content: Buffer) =>
  `-----BEGIN CERTIFICATE-----\n${content.toString('base64').replace(/.{1,64}/g, '$&\n')}-----END CERTIFICATE-----\n`
