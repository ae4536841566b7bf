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
  /** The name of a server in DNS, or what a client is called. */
  readonly name: string
  /** Further names of a server. */
  readonly others?: readonly string[]
  readonly use: 'server' | 'client'
  /** Absent: ten years. */
  readonly days?: number
}

const DAY = 86_400_000
/** Clocks differ. */
const BEFORE = DAY
/** Nothing renews authorities and what builders and the server show each other. */
const LIFETIME = 3650 * DAY

/**
 * Creates an authority with a key of its own (ECDSA, P-256), which signs the certificates that the parts of a platform
 * present to each other. An authority with a domain has name constraints: clients that trust it do not accept its
 * certificates for hosts of other domains. Node.js can read certificates but not create them.
 */
export function makeAuthority(name: string, now: number, domain?: string): KeyedCertificate {
  const key = newKey()
  const extensions = [...authorityUse(), ...(domain === undefined ? [] : [onlyBelow(domain)])]
  return withKey(key, certificateOf({ subject: name, key, issuer: { name, key }, extensions, now }))
}

/** True if an authority may sign for a domain and the hosts below: it is of that domain, or of none. */
export function maySignFor(authority: string, domain: string): boolean {
  const { raw } = new X509Certificate(authority)
  return raw.includes(onlyBelow(domain)) || !raw.includes(oid(OID.nameConstraints))
}

/** A certificate that an authority has signed. */
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
  // None of what it signs is an authority.
  extension(OID.basicConstraints, sequence(tlv(0x01, Buffer.from([0xff])), integer(Buffer.from([0]))), true),
  extension(OID.keyUsage, bits(DIGITAL_SIGNATURE | SIGNS_CERTIFICATES), true),
]

/** RFC 5280, 4.2.1.10: a domain with what is below, and no address, of four bytes or of sixteen, each with its mask. */
const onlyBelow = (domain: string): Buffer =>
  extension(
    OID.nameConstraints,
    sequence(
      tlv(0xa0, sequence(tlv(0x82, Buffer.from(domain, 'ascii')))),
      tlv(0xa1, sequence(tlv(0x87, Buffer.alloc(8))), sequence(tlv(0x87, Buffer.alloc(32)))),
    ),
    true,
  )

/** RFC 5280, 4.1 */
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

/** DER: the type of a value, its length, and itself. */
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

/** `20261123142700Z`; RFC 5280 wants the short form of years before 2050. */
function time(milliseconds: number): Buffer {
  const text = new Date(milliseconds)
    .toISOString()
    .replace(/\.\d+Z$/, 'Z')
    .replaceAll(/[-:T]/g, '')
  return Number(text.slice(0, 4)) < 2050 ? tlv(0x17, Buffer.from(text.slice(2))) : tlv(0x18, Buffer.from(text))
}

const nameOf = (name: string): Buffer =>
  sequence(tlv(0x31, sequence(oid(OID.commonName), tlv(0x0c, Buffer.from(name)))))

/** A string of up to eight bits, without the zeros at its end. */
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
