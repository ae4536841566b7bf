import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  X509Certificate,
} from 'node:crypto'

/** A certificate with its private key, both in PEM. */
export interface KeyedCertificate {
  readonly certificate: string
  readonly key: string
}

/** Subject and use of a certificate. */
export interface Certified {
  /** DNS name of a server; for the certificate of a client, the name of the client. */
  readonly name: string
  /** Further DNS names of a server. */
  readonly others?: readonly string[]
  readonly use: 'server' | 'client'
  /** Number of days for which the certificate is valid. If absent, ten years. */
  readonly days?: number
}

const DAY = 86_400_000
/**
 * Time in milliseconds by which the start of a certificate's validity precedes its creation, for machines whose clocks
 * are slow.
 */
const BEFORE = DAY
/**
 * Lifetime in milliseconds of certificate authorities, and of the certificates that builders and the server present to
 * each other. None of them is ever renewed.
 */
const LIFETIME = 3650 * DAY

/**
 * Creates a certificate authority with its own key (ECDSA, P-256). It signs the certificates that the parts of a
 * platform present to each other. An authority with a domain has name constraints: clients that trust it do not accept
 * its certificates for hosts of other domains. The encoding is part of devctl, because Node.js can read certificates
 * but not create them.
 */
export function makeAuthority(name: string, now: number, domain?: string): KeyedCertificate {
  const key = newKey()
  const extensions = [...authorityUse(), ...(domain === undefined ? [] : [onlyBelow(domain)])]
  return withKey(key, certificateOf({ subject: name, key, issuer: { name, key }, extensions, now }))
}

/**
 * True if an authority may sign certificates for a domain and its subdomains: it was created for this domain, or
 * without a domain.
 */
export function maySignFor(authority: string, domain: string): boolean {
  const { raw } = new X509Certificate(authority)
  return raw.includes(onlyBelow(domain)) || !raw.includes(oid(OID.nameConstraints))
}

/** Creates a certificate that an authority signs. */
export function makeCertificate(
  authority: KeyedCertificate,
  { name, others = [], use, days }: Certified,
  now: number,
): KeyedCertificate {
  const key = newKey()
  const issuer = { name: commonName(authority.certificate), key: createPrivateKey(authority.key) }
  const extensions = [
    extension(OID.basicConstraints, sequence(), true),
    extension(OID.keyUsage, bits(DIGITAL_SIGNATURE), true),
    extension(OID.extendedKeyUsage, sequence(oid(use === 'server' ? OID.serverAuth : OID.clientAuth))),
    extension(OID.subjectAltName, sequence(...[name, ...others].map(one => tlv(0x82, Buffer.from(one, 'ascii'))))),
  ]
  const lifetime = days === undefined ? LIFETIME : days * DAY
  return withKey(key, certificateOf({ subject: name, key, issuer, extensions, now, lifetime }))
}

interface ToSign {
  readonly subject: string
  readonly key: KeyObject
  readonly issuer: { readonly name: string; readonly key: KeyObject }
  readonly extensions: readonly Buffer[]
  readonly now: number
  /** Lifetime in milliseconds. */
  readonly lifetime?: number
}

const newKey = (): KeyObject => generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey

const withKey = (key: KeyObject, certificate: string): KeyedCertificate => ({
  certificate,
  key: key.export({ type: 'pkcs8', format: 'pem' }).toString(),
})

const commonName = (certificate: string): string =>
  /^CN=(.*)$/m.exec(new X509Certificate(certificate).subject)?.[1] ?? ''

const authorityUse = (): readonly Buffer[] => [
  // The path length is 0: certificates that it signs cannot be authorities themselves.
  extension(OID.basicConstraints, sequence(tlv(0x01, Buffer.from([0xff])), integer(Buffer.from([0]))), true),
  extension(OID.keyUsage, bits(DIGITAL_SIGNATURE | SIGNS_CERTIFICATES), true),
]

/**
 * Returns the name constraints (RFC 5280, 4.2.1.10) that permit a domain and its subdomains, and exclude all IP
 * addresses. The excluded ranges are zero bytes: an address of 4 or 16 bytes, followed by a mask of the same length.
 */
const onlyBelow = (domain: string): Buffer =>
  extension(
    OID.nameConstraints,
    sequence(
      tlv(0xa0, sequence(tlv(0x82, Buffer.from(domain, 'ascii')))),
      tlv(0xa1, sequence(tlv(0x87, Buffer.alloc(8))), sequence(tlv(0x87, Buffer.alloc(32)))),
    ),
    true,
  )

/** Encodes and signs a certificate (RFC 5280, 4.1). */
function certificateOf({ subject, key, issuer, extensions, now, lifetime = LIFETIME }: ToSign): string {
  const algorithm = sequence(oid(OID.ecdsaWithSha256))
  const content = sequence(
    tlv(0xa0, integer(Buffer.from([2]))),
    integer(serial()),
    algorithm,
    nameOf(issuer.name),
    sequence(time(now - BEFORE), time(now + lifetime)),
    nameOf(subject),
    createPublicKey(key).export({ type: 'spki', format: 'der' }),
    tlv(
      0xa3,
      sequence(
        ...extensions,
        extension(OID.subjectKey, tlv(0x04, keyId(key))),
        extension(OID.authorityKey, sequence(tlv(0x80, keyId(issuer.key)))),
      ),
    ),
  )
  const signature = sign('sha256', content, issuer.key)
  const der = sequence(content, algorithm, tlv(0x03, Buffer.from([0]), signature))
  const lines = der
    .toString('base64')
    .replaceAll(/(.{64})/g, '$1\n')
    .trimEnd()
  return `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`
}

const OID = {
  commonName: '2.5.4.3',
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
  subjectKey: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  nameConstraints: '2.5.29.30',
  authorityKey: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
  serverAuth: '1.3.6.1.5.5.7.3.1',
  clientAuth: '1.3.6.1.5.5.7.3.2',
} as const

const DIGITAL_SIGNATURE = 0b1000_0000
const SIGNS_CERTIFICATES = 0b0000_0100

/** Encodes a value in DER: its type, its length, and its content. */
function tlv(tag: number, ...content: readonly Uint8Array[]): Buffer {
  const value = Buffer.concat(content)
  const size = value.length
  const length = size < 0x80 ? [size] : size < 0x100 ? [0x81, size] : [0x82, size >> 8, size & 0xff]
  return Buffer.concat([Buffer.from([tag, ...length]), value])
}

const sequence = (...parts: readonly Uint8Array[]): Buffer => tlv(0x30, ...parts)
const integer = (bytes: Uint8Array): Buffer => tlv(0x02, bytes)

/** Returns a positive random number that cannot be guessed, in its shortest DER encoding. */
function serial(): Buffer {
  const bytes = randomBytes(16)
  bytes[0] = (bytes[0]! & 0x7f) | 0x40
  return bytes
}

function oid(text: string): Buffer {
  const [first = 0, second = 0, ...rest] = text.split('.').map(Number)
  const base128 = (number: number): readonly number[] => {
    const digits = [number & 0x7f]
    for (let left = number >> 7; left > 0; left >>= 7) digits.unshift((left & 0x7f) | 0x80)
    return digits
  }
  return tlv(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]))
}

/** Encodes a time, such as `20261123142700Z`. RFC 5280 requires the short form for years before 2050. */
function time(milliseconds: number): Buffer {
  const text = new Date(milliseconds)
    .toISOString()
    .replace(/\.\d+Z$/, 'Z')
    .replaceAll(/[-:T]/g, '')
  return Number(text.slice(0, 4)) < 2050 ? tlv(0x17, Buffer.from(text.slice(2))) : tlv(0x18, Buffer.from(text))
}

const nameOf = (name: string): Buffer =>
  sequence(tlv(0x31, sequence(oid(OID.commonName), tlv(0x0c, Buffer.from(name)))))

/** Encodes a bit string of up to eight bits, without trailing zeros. */
function bits(flags: number): Buffer {
  let unused = 0
  while (((flags >> unused) & 1) === 0) unused++
  return tlv(0x03, Buffer.from([unused, flags]))
}

const keyId = (key: KeyObject): Buffer =>
  createHash('sha1')
    .update(createPublicKey(key).export({ type: 'spki', format: 'der' }))
    .digest()

const extension = (id: string, value: Buffer, isCritical = false): Buffer =>
  sequence(oid(id), ...(isCritical ? [tlv(0x01, Buffer.from([0xff]))] : []), tlv(0x04, value))
