import { createHash, timingSafeEqual } from 'node:crypto'
import { crc32 } from 'node:zlib'

/**
 * The purposes of tokens: a browser session, a person's programs, a command line, a run, a CI job, the first
 * administrator, and an invited user.
 */
export const TOKEN_KINDS = ['session', 'api', 'cli', 'run', 'ci', 'setup', 'invite'] as const
export type TokenKind = (typeof TOKEN_KINDS)[number]

/** The parts of a token. Only the owner of the token has the secret; the platform stores a hash of it. */
export interface TokenParts {
  readonly kind: TokenKind
  /** Name of the token's record, so that a single read finds the record. */
  readonly id: string
  readonly secret: string
}

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const ID = /^[a-z2-7]{16}$/
/**
 * Length of the secret in characters, which encode 32 random bytes. In the text of a token, a checksum of all preceding
 * characters follows the secret.
 */
const SECRET_LENGTH = 43
const SUM_LENGTH = 6
const FORM = new RegExp(
  `^devctl_(${TOKEN_KINDS.join('|')})_([a-z2-7]{16})_([0-9A-Za-z]{${SECRET_LENGTH}})([0-9A-Za-z]{6})$`,
)

/**
 * Creates a token from random bytes: 10 for its id and 32 for its secret. Secret scanners can recognize the token
 * offline by its format and its checksum.
 */
export function makeToken(
  kind: TokenKind,
  random: { readonly id: Uint8Array; readonly secret: Uint8Array },
): TokenParts {
  return { kind, id: base32(random.id).slice(0, 16), secret: base62(random.secret, SECRET_LENGTH) }
}

export function tokenText({ kind, id, secret }: TokenParts): string {
  const text = `devctl_${kind}_${id}_${secret}`
  return `${text}${sumOf(text)}`
}

/** Parses a token; undefined if the text is not one, or was truncated or mistyped. */
export function parseToken(text: string): TokenParts | undefined {
  const [, kind, id, secret, sum] = FORM.exec(text) ?? []
  if (kind === undefined || id === undefined || secret === undefined) return undefined
  if (sumOf(text.slice(0, -SUM_LENGTH)) !== sum) return undefined
  return { kind: kind as TokenKind, id, secret } // FORM lets no other kind pass
}

/**
 * Returns the hash of a token's secret, which is stored instead of the secret. The secret is random, so it needs no
 * salt and no slow hash.
 */
export const secretHash = (secret: string): string => createHash('sha256').update(secret).digest('base64url')

/** True if a secret has this hash. Compares in constant time. */
export function isSecretOf(hash: string, secret: string): boolean {
  const [a, b] = [Buffer.from(hash), Buffer.from(secretHash(secret))]
  return a.length === b.length && timingSafeEqual(a, b)
}

export const isTokenId = (text: string): boolean => ID.test(text)

const sumOf = (text: string): string => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(crc32(text))
  return base62(bytes, SUM_LENGTH)
}

function base62(bytes: Uint8Array, length: number): string {
  let rest = BigInt(`0x${Buffer.from(bytes).toString('hex')}`)
  let text = ''
  for (; text.length < length; rest /= 62n) text = DIGITS[Number(rest % 62n)] + text
  return text
}

const LETTERS = 'abcdefghijklmnopqrstuvwxyz234567'

/** Encodes bytes in base32 (RFC 4648), in lower case and without padding, for use in Kubernetes names. */
export function base32(bytes: Uint8Array): string {
  let [text, bits, value] = ['', 0, 0]
  for (const byte of bytes) {
    value = (value << 8) | byte
    for (bits += 8; bits >= 5; bits -= 5) text += LETTERS[(value >> (bits - 5)) & 31]
    value &= (1 << bits) - 1
  }
  return bits === 0 ? text : text + LETTERS[(value << (5 - bits)) & 31]
}
