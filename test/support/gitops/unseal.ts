import { constants, createDecipheriv, privateDecrypt } from 'node:crypto'
import type { KubernetesObject } from '../../../constructs/manifest.ts'
import { PRIVATE_KEY } from './certificates.ts'

/**
 * Opens a value as the controller does (`crypto.HybridDecrypt`); throws when the label or anything in it is another.
 */
export function decryptValue(text: string, label: string): Buffer {
  const bytes = Buffer.from(text, 'base64')
  const end = 2 + bytes.readUInt16BE()
  const padding = { padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha256', oaepLabel: Buffer.from(label) }
  const sessionKey = privateDecrypt({ key: PRIVATE_KEY, ...padding }, bytes.subarray(2, end))
  const decipher = createDecipheriv('aes-256-gcm', sessionKey, Buffer.alloc(12))
  decipher.setAuthTag(bytes.subarray(-16))
  return Buffer.concat([decipher.update(bytes.subarray(end, -16)), decipher.final()])
}

/** The sealed values of a SealedSecret. */
export function encryptedData(sealed: KubernetesObject): Readonly<Record<string, string>> {
  return (sealed.spec as { readonly encryptedData: Readonly<Record<string, string>> }).encryptedData // every SealedSecret has it
}
