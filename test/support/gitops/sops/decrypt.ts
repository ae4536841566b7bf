import { createDecipheriv, createHash } from 'node:crypto'
import { armor, Decrypter } from 'age-encryption'
import type { KubernetesObject } from '../../../../constructs/manifest.ts'

/** Age key pair of these tests, and the recipient of another key, whose private key is unknown. */
export const IDENTITY = 'AGE-SECRET-KEY-1LWA2PYCFC48Q0M9MCEH5NK5V8ZEJF7FFTYXT2HQF673DX5HNSGHSWWHLZG'
export const RECIPIENT = 'age1j6eck6awrvngca4fxy4wk9wwmmejz3ftxqdf7pc76pc0plfqru9q9kx2s2'
export const OTHER_RECIPIENT = 'age1am4ezr5dsa4jt8qpq75qr82cw03j8exkqh64gaghaplzv2ah73mqt0mp7q'

interface Metadata {
  readonly age: readonly { readonly recipient: string; readonly enc: string }[]
  readonly lastmodified: string
  readonly mac: string
}

/**
 * Opens what SOPS has encrypted, with its digest checked; written from the description of the format, apart from what
 * encrypts.
 */
export async function decrypt(object: KubernetesObject, identity = IDENTITY): Promise<KubernetesObject> {
  const { sops, ...rest } = object
  const { age, lastmodified, mac } = sops as Metadata
  const key = await dataKey(age, identity)
  const digest = createHash('sha512')
  const open = (value: unknown, path: readonly string[]): unknown => {
    if (Array.isArray(value)) return value.map(item => open(item, path))
    if (typeof value === 'object' && value !== null)
      return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, open(inner, [...path, name])]))
    const isEncrypted = typeof value === 'string' && value.startsWith('ENC[')
    const plain = isEncrypted ? decryptText(key, value, `${path.join(':')}:`) : value
    digest.update(typeof plain === 'boolean' ? (plain ? 'True' : 'False') : String(plain))
    return plain
  }
  const plain = open(rest, []) as KubernetesObject
  if (decryptText(key, mac, lastmodified) !== digest.digest('hex').toUpperCase()) throw new Error('the digest differs')
  return plain
}

async function dataKey(age: Metadata['age'], identity: string): Promise<Uint8Array> {
  const decrypter = new Decrypter()
  decrypter.addIdentity(identity)
  for (const { enc } of age) {
    try {
      return await decrypter.decrypt(armor.decode(enc))
    } catch {
      // Encrypted for another recipient.
    }
  }
  throw new Error('not for this key')
}

function decryptText(key: Uint8Array, text: string, place: string): string {
  const [, data, iv, tag] = /^ENC\[AES256_GCM,data:(.+),iv:(.+),tag:(.+),type:str\]$/.exec(text)!
  const bytes = (word: string | undefined) => Buffer.from(word ?? '', 'base64')
  const decipher = createDecipheriv('aes-256-gcm', key, bytes(iv)).setAAD(Buffer.from(place)).setAuthTag(bytes(tag))
  return Buffer.concat([decipher.update(bytes(data)), decipher.final()]).toString()
}
