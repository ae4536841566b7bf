import { createPrivateKey, type JsonWebKey, type KeyObject } from 'node:crypto'
import { failed, type Parsed, parsed } from '../../../compiler/values/parsed.ts'
import { WireReader, withoutZeros } from './wire.ts'

const MAGIC = Buffer.from('openssh-key-v1\0')

/**
 * Parses the text of a key in OpenSSH's own format:
 * https://github.com/openssh/openssh-portable/blob/master/PROTOCOL.key
 */
export function openSshKey(text: string): Parsed<KeyObject> {
  try {
    const body = /^-----BEGIN OPENSSH PRIVATE KEY-----([A-Za-z0-9+/=\s]*)-----END/.exec(text)?.[1] ?? ''
    const reader = new WireReader(Buffer.from(body, 'base64'))
    if (!reader.bytes(MAGIC.length).equals(MAGIC)) return failed('it is damaged')
    const cipher = reader.text()
    if (cipher !== 'none') return failed('it has a passphrase')
    reader.text() // The key derivation and its options, for a passphrase.
    reader.string()
    if (reader.uint32() !== 1) return failed('it has several keys')
    reader.string() // The public key, which the private key repeats.
    return keyIn(new WireReader(reader.string()))
  } catch {
    // The data is truncated, or is not a valid key.
    return failed('it is damaged')
  }
}

function keyIn(reader: WireReader): Parsed<KeyObject> {
  const check = reader.uint32()
  if (reader.uint32() !== check) return failed('it is damaged')
  const type = reader.text()
  const jwk = jwkOf(type, reader)
  return jwk ? parsed(createPrivateKey({ key: jwk, format: 'jwk' })) : failed(`its type is \`${type}\``)
}

const CURVES: Readonly<Record<string, { readonly crv: string; readonly size: number }>> = {
  'ecdsa-sha2-nistp256': { crv: 'P-256', size: 32 },
  'ecdsa-sha2-nistp384': { crv: 'P-384', size: 48 },
  'ecdsa-sha2-nistp521': { crv: 'P-521', size: 66 },
}

/** Returns the key as a JSON Web Key; undefined for hardware-backed keys (`sk-…`) and for DSA. */
function jwkOf(type: string, reader: WireReader): JsonWebKey | undefined {
  if (type === 'ssh-rsa') return rsa(reader)
  const curve = CURVES[type]
  if (curve) return ecdsa(curve, reader)
  if (type !== 'ssh-ed25519') return undefined
  const x = reader.string()
  // The seed comes first, then the public key again.
  return { kty: 'OKP', crv: 'Ed25519', x: text(x), d: text(reader.string().subarray(0, 32)) }
}

function ecdsa({ crv, size }: (typeof CURVES)[string], reader: WireReader): JsonWebKey {
  reader.string() // The curve.
  const point = reader.string()
  const d = withoutZeros(reader.string())
  return {
    kty: 'EC',
    crv,
    x: text(point.subarray(1, 1 + size)),
    y: text(point.subarray(1 + size)),
    d: text(Buffer.concat([Buffer.alloc(size - d.length), d])),
  }
}

function rsa(reader: WireReader): JsonWebKey {
  const [n, e, d, qi, p, q] = Array.from({ length: 6 }, () => withoutZeros(reader.string())) as [
    Buffer,
    Buffer,
    Buffer,
    Buffer,
    Buffer,
    Buffer,
  ]
  const exponent = (prime: Buffer) => bytesOf(numberOf(d) % (numberOf(prime) - 1n))
  const numbers = { n, e, d, p, q, dp: exponent(p), dq: exponent(q), qi }
  return { kty: 'RSA', ...Object.fromEntries(Object.entries(numbers).map(([name, value]) => [name, text(value)])) }
}

const text = (bytes: Buffer): string => bytes.toString('base64url')

const numberOf = (bytes: Buffer): bigint => BigInt(`0x${bytes.toString('hex')}`)

function bytesOf(number: bigint): Buffer {
  const digits = number.toString(16)
  return Buffer.from(digits.padStart(digits.length + (digits.length % 2), '0'), 'hex')
}
