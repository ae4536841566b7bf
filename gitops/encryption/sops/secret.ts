import { createHmac, type KeyObject } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { KubernetesObject } from '../../../constructs/manifest.ts'
import type { SealMarks } from '../seal.ts'
import { encryptSecret } from './encrypt.ts'
import { isEncryptedText } from './encrypted-text.ts'
import { encryptByProgram, type ProgramSurroundings } from './program.ts'
import type { SopsRule } from './rule.ts'

export interface SopsOptions extends ProgramSurroundings {
  readonly rule: SopsRule
  /** Key for computing the marks, from `readSealingKey`. */
  readonly key: KeyObject
  readonly now: Date
  /** Results of earlier runs for this Secret; the first one that is still valid is kept. */
  readonly previous: readonly { readonly encrypted: KubernetesObject; readonly marks: SealMarks }[]
}

export interface SopsSecret {
  readonly manifest: KubernetesObject
  readonly marks: SealMarks
}

/**
 * Returns a Secret encrypted by SOPS. A changed value cannot be detected without the private key, and encryption
 * differs each time. To avoid a commit for an unchanged Secret, the result of an earlier run is kept as long as the
 * marks of its values, its recipients and all unencrypted fields are the same. Otherwise the full Secret is encrypted
 * again, since its values share a key. Throws a UserError as `encryptSecret` and `encryptByProgram` do.
 */
export async function sopsSecret(secret: KubernetesObject, options: SopsOptions): Promise<SopsSecret> {
  const { rule, key, now, previous } = options
  const marks = marksOf(secret, rule, key)
  const encrypt = () =>
    rule.program ? encryptByProgram(secret, rule.program, options) : encryptSecret(secret, rule, now)
  const kept = previous.find(one => isDeepStrictEqual(one.marks, marks) && isStillTrue(one.encrypted, secret, rule))
  return { manifest: kept?.encrypted ?? (await encrypt()), marks }
}

/**
 * Returns the marks, by key of the Secret. Equal marks prove that the value, its path and its recipients are unchanged.
 */
function marksOf({ metadata, data }: KubernetesObject, rule: SopsRule, key: KeyObject): SealMarks {
  const { name, namespace = '' } = metadata
  const place = ['sops', [...rule.age].sort(), rule.encryptedRegex, rule.program?.rule ?? '', namespace, name]
  const entries = Object.entries((data ?? {}) as Readonly<Record<string, string>>) // what a Secret has there
  return Object.fromEntries(
    entries.map(([entry, value]) => {
      // JSON contains no line ends, so the parts are unambiguous.
      const mark = createHmac('sha256', key)
        .update(`${JSON.stringify([...place, entry])}\n`)
        .update(value, 'base64')
      return [entry, mark.digest('hex')]
    }),
  )
}

/**
 * True if an encrypted Secret has the same unencrypted fields and the same keys as the given Secret, and its values are
 * encrypted for the recipients of the rule.
 */
function isStillTrue(encrypted: KubernetesObject, secret: KubernetesObject, rule: SopsRule): boolean {
  const { sops, data, ...rest } = encrypted
  const { data: plain, ...wanted } = secret
  const { age, encrypted_regex: regex } = (sops ?? {}) as { readonly age?: unknown; readonly encrypted_regex?: unknown } // read from a file
  const recipients = (Array.isArray(age) ? age : []).map(one => (one as { readonly recipient?: unknown })?.recipient)
  const [values, names] = [Object.entries(data ?? {}), Object.keys(plain ?? {})]
  return (
    isDeepStrictEqual(rest, JSON.parse(JSON.stringify(wanted))) &&
    isDeepStrictEqual(values.map(([name]) => name).sort(), names.sort()) &&
    values.every(([, value]) => isEncryptedText(value)) &&
    (rule.program !== undefined ||
      (isDeepStrictEqual([...recipients].sort(), [...rule.age].sort()) && regex === rule.encryptedRegex))
  )
}
