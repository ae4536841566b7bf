import { createCipheriv, createHash, randomBytes } from 'node:crypto'
import { UserError } from '../../../compiler/diagnostics/user-error.ts'
import type { KubernetesObject } from '../../../constructs/manifest.ts'
import { goPattern } from './go-pattern.ts'
import type { SopsRule } from './rule.ts'

/** Version of the encrypted format: the first version of SOPS that wrote this format. */
const VERSION = '3.9.4'
const KEY_BYTES = 32
const NONCE_BYTES = 32

/**
 * Encrypts the values of a Secret as SOPS does, for age recipients
 * (https://github.com/getsops/sops#message-authentication-code). Encrypts each value, bound to its path, with one new
 * AES-256-GCM key; encrypts the key for every recipient; and adds a digest of all values. The result differs each time.
 * Throws a UserError for an invalid recipient, and for a rule that leaves a value in plain text or encrypts a field
 * that Kubernetes has to read.
 */
export async function encryptSecret(secret: KubernetesObject, rule: SopsRule, now: Date): Promise<KubernetesObject> {
  const key = randomBytes(KEY_BYTES)
  const digest = createHash('sha512')
  const isEncrypted = matcherOf(rule, secret)
  const encrypted = mapLeaves(secret, [], (value, path) => {
    digest.update(bytesOf(value))
    return isEncrypted(path) ? encryptText(key, String(value), `${path.join(':')}:`) : value
  }) as KubernetesObject // the same keys
  const lastmodified = `${now.toISOString().slice(0, 19)}Z`
  const age = await Promise.all(rule.age.map(async recipient => ({ recipient, enc: await wrapKey(key, recipient) })))
  const mac = encryptText(key, digest.digest('hex').toUpperCase(), lastmodified)
  const sops = { age, lastmodified, mac, encrypted_regex: rule.encryptedRegex, version: VERSION }
  return { ...encrypted, sops }
}

type Path = readonly string[]

function matcherOf({ encryptedRegex }: SopsRule, secret: KubernetesObject): (path: Path) => boolean {
  const refuse = (why: string) =>
    new UserError(`\`encrypted_regex: ${encryptedRegex}\` ${why}`, {
      hint: 'write `encrypted_regex: ^(data|stringData)$`',
    })
  let pattern: RegExp
  try {
    pattern = goPattern(encryptedRegex)
  } catch {
    throw refuse('cannot be read')
  }
  const matches = (path: Path) => path.some(key => pattern.test(key))
  mapLeaves(secret, [], (value, path) => {
    const isValue = path[0] === 'data' || path[0] === 'stringData'
    if (isValue && !matches(path)) throw refuse(`leaves \`${path.join('.')}\` of the Secret in plain text`)
    if (!isValue && matches(path)) throw refuse(`encrypts \`${path.join('.')}\`, which Kubernetes must be able to read`)
    return value
  })
  return matches
}

/** Returns the value with each text, number and flag replaced by `change`, in the order in which they are printed. */
function mapLeaves(value: unknown, path: Path, change: (leaf: unknown, path: Path) => unknown): unknown {
  // Items of a list are bound to the path of the list.
  if (Array.isArray(value)) return value.map(item => mapLeaves(item, path, change))
  if (typeof value !== 'object' || value === null) return change(value, path)
  const entries = Object.entries(value).filter(([, inner]) => inner !== undefined)
  return Object.fromEntries(entries.map(([key, inner]) => [key, mapLeaves(inner, [...path, key], change)]))
}

/**
 * Returns the text that SOPS adds to its digest for a value. Booleans are printed as in Python, the language of the
 * first version of SOPS.
 */
function bytesOf(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  return value === null ? '' : String(value)
}

function encryptText(key: Uint8Array, text: string, place: string): string {
  if (text === '') return ''
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(place))
  const data = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  const [word, iv, tag] = [data, nonce, cipher.getAuthTag()].map(bytes => bytes.toString('base64'))
  return `ENC[AES256_GCM,data:${word},iv:${iv},tag:${tag},type:str]`
}

async function wrapKey(key: Uint8Array, recipient: string): Promise<string> {
  const { armor, Encrypter } = await import('age-encryption')
  const encrypter = new Encrypter()
  try {
    encrypter.addRecipient(recipient)
  } catch (error) {
    const shown = recipient.startsWith('age1') ? `\`${recipient}\`` : 'an entry of the list for age'
    throw new UserError(`${shown} is not a recipient of age`, {
      hint: 'write the public key, `age1…`, which `age-keygen -y KEY_FILE` prints; plugins and ssh keys are not supported',
      cause: error,
    })
  }
  return `${armor.encode(await encrypter.encrypt(key)).trimEnd()}\n`
}
