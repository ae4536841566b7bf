import { constants, createCipheriv, type KeyObject, publicEncrypt, randomBytes } from 'node:crypto'

/** Scope in which a sealed value can be decrypted: one Secret, one namespace, or the whole cluster. */
export type SealScope = 'strict' | 'namespace-wide' | 'cluster-wide'

const SESSION_KEY_BYTES = 32
const TAG_BYTES = 16

/**
 * Encrypts a value in the format that the Sealed Secrets controller decrypts: a new AES-256-GCM key, encrypted for the
 * controller by RSA-OAEP with SHA-256, and the value, encrypted with that key. The base64 result contains two bytes
 * with the length of the encrypted key, the encrypted key, and the encrypted value with its tag
 * (https://github.com/bitnami-labs/sealed-secrets/blob/main/docs/developer/crypto.md). The result differs each time.
 */
export function encryptValue(publicKey: KeyObject, value: Uint8Array, label: string): string {
  const sessionKey = randomBytes(SESSION_KEY_BYTES)
  const sealedKey = publicEncrypt(
    { key: publicKey, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha256', oaepLabel: Buffer.from(label) },
    sessionKey,
  )
  // The key is used only for this value, so the nonce may be zero.
  const cipher = createCipheriv('aes-256-gcm', sessionKey, Buffer.alloc(12))
  const length = Buffer.alloc(2)
  length.writeUInt16BE(sealedKey.length)
  return Buffer.concat([length, sealedKey, cipher.update(value), cipher.final(), cipher.getAuthTag()]).toString(
    'base64',
  )
}

/**
 * True if a text has the form of an encrypted value: a value of `size` bytes that was encrypted with `publicKey`, or
 * with another key of the same length.
 */
export function looksEncrypted(text: unknown, publicKey: KeyObject, size: number): text is string {
  if (typeof text !== 'string' || !/^[A-Za-z0-9+/]+={0,2}$/.test(text)) return false
  const bytes = Buffer.from(text, 'base64')
  const keySize = Math.ceil((publicKey.asymmetricKeyDetails?.modulusLength ?? 0) / 8)
  return bytes.length === 2 + keySize + size + TAG_BYTES && bytes.readUInt16BE() === keySize
}

/**
 * Returns the label that the controller needs to decrypt a value of a Secret, and that binds the value to its scope.
 */
export function scopeLabel(scope: SealScope, namespace: string, name: string): string {
  switch (scope) {
    case 'strict':
      return `${namespace}/${name}`
    case 'namespace-wide':
      return namespace
    case 'cluster-wide':
      return ''
  }
}
