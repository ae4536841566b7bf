import { createPrivateKey, createPublicKey, type JsonWebKey, type KeyObject, sign } from 'node:crypto'
import { failed, type Parsed, parsed } from '../../../compiler/values/parsed.ts'
import { openSshKey } from './openssh-key.ts'
import { mpint, string } from './wire.ts'

/** A private key as used by an agent. */
export interface AgentKey {
  /** Public key in SSH format: https://www.rfc-editor.org/rfc/rfc4253#section-6.6 */
  readonly publicKey: Buffer
  /** Returns a signature, preceded by the name of its algorithm. `flags` are the flags of the agent protocol. */
  readonly sign: (data: Buffer, flags: number) => Buffer
}

/** Curves of `ecdsa-sha2-…`: https://www.rfc-editor.org/rfc/rfc5656#section-10.1 */
const CURVES: Readonly<Record<string, { readonly name: string; readonly hash: string }>> = {
  'P-256': { name: 'nistp256', hash: 'sha256' },
  'P-384': { name: 'nistp384', hash: 'sha384' },
  'P-521': { name: 'nistp521', hash: 'sha512' },
}

const USE_AGENT = 'add the key to an agent with `ssh-add`, and write `default` instead of its path'

/** Parses a private key in a format that `ssh-keygen` writes: OpenSSH's own format, or PEM. */
export function parsePrivateKey(file: Buffer): Parsed<AgentKey> {
  const text = file.toString('latin1').trim()
  if (/^(?:ssh|ecdsa|sk)-\S+ AAAA/.test(text)) return failed('it is a public key', 'name the file without `.pub`')
  if (!text.startsWith('-----BEGIN ')) return failed('it is neither a private key nor the socket of an agent')
  if (/^-----BEGIN ENCRYPTED |^Proc-Type: 4,ENCRYPTED/m.test(text)) return failed('it has a passphrase', USE_AGENT)
  const key = text.startsWith('-----BEGIN OPENSSH ') ? openSshKey(text) : pemKey(text)
  if (!key.ok) return key.reason.includes('damaged') ? key : { ...key, hint: USE_AGENT }
  return sshKey(key.value)
}

function pemKey(text: string): Parsed<KeyObject> {
  try {
    return parsed(createPrivateKey(text))
  } catch {
    return failed('it is damaged, or in a form that is not known')
  }
}

function sshKey(key: KeyObject): Parsed<AgentKey> {
  const { kty, crv = '', n, e, x, y } = createPublicKey(key).export({ format: 'jwk' })
  if (kty === 'RSA') return parsed(rsaKey(key, { n: n!, e: e! }))
  const curve = CURVES[crv]
  if (kty === 'EC' && curve) return parsed(ecdsaKey(key, curve, [x!, y!]))
  if (crv === 'Ed25519')
    return parsed({
      publicKey: Buffer.concat([string('ssh-ed25519'), string(bytesOf(x!))]),
      sign: data => signature('ssh-ed25519', sign(null, data, key)),
    })
  return failed(`keys of the type \`${crv || key.asymmetricKeyType}\` are not supported`, USE_AGENT)
}

/** Flags of a signature request: https://www.rfc-editor.org/rfc/rfc8332 */
const RSA_SHA2_256 = 2
const RSA_SHA2_512 = 4

function rsaKey(key: KeyObject, { n, e }: { readonly n: string; readonly e: string }): AgentKey {
  return {
    publicKey: Buffer.concat([string('ssh-rsa'), mpint(bytesOf(e)), mpint(bytesOf(n))]),
    sign: (data, flags) => {
      if (flags & RSA_SHA2_512) return signature('rsa-sha2-512', sign('sha512', data, key))
      if (flags & RSA_SHA2_256) return signature('rsa-sha2-256', sign('sha256', data, key))
      return signature('ssh-rsa', sign('sha1', data, key))
    },
  }
}

function ecdsaKey(
  key: KeyObject,
  { name, hash }: (typeof CURVES)[string],
  point: readonly [x: string, y: string],
): AgentKey {
  const algorithm = `ecdsa-sha2-${name}`
  const uncompressed = Buffer.concat([Buffer.from([4]), ...point.map(bytesOf)])
  return {
    publicKey: Buffer.concat([string(algorithm), string(name), string(uncompressed)]),
    sign: data => {
      const both = sign(hash, data, { key, dsaEncoding: 'ieee-p1363' })
      const [r, s] = [both.subarray(0, both.length / 2), both.subarray(both.length / 2)]
      return signature(algorithm, Buffer.concat([mpint(r), mpint(s)]))
    },
  }
}

const signature = (algorithm: string, blob: Buffer): Buffer => Buffer.concat([string(algorithm), string(blob)])

const bytesOf = (text: NonNullable<JsonWebKey['x']>): Buffer => Buffer.from(text, 'base64url')
