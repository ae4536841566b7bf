import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { SignJWT } from 'jose'
import type { RegistryAccess } from '../../rules/registry/registry-access.ts'

/** The key that signs tokens for the registry. */
export interface RegistryKey {
  readonly key: KeyObject
  readonly certificate: X509Certificate
}

/** Lifetime of a registry token in seconds. A revoked permission remains effective for this long. */
export const TOKEN_SECONDS = 300
/** Time in seconds by which the registry's clock may be behind. */
const BEHIND = 30

/**
 * Reads the key from a folder in the format of a mounted Secret. Returns undefined if the file of the key or of its
 * certificate does not exist. Throws an Error if a file is invalid, or the certificate does not match the key.
 */
export function readRegistryKey(folder: string): RegistryKey | undefined {
  const read = (name: string) => readFileSync(join(folder, name), 'utf8')
  let texts: readonly [string, string]
  try {
    texts = [read('tls.key'), read('tls.crt')]
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  return toRegistryKey(...texts)
}

/**
 * Parses the key and its certificate. Throws an Error if they do not match, because no registry would accept the
 * tokens.
 */
export function toRegistryKey(keyText: string, certificateText: string): RegistryKey {
  const [key, certificate] = [createPrivateKey(keyText), new X509Certificate(certificateText)]
  if (!certificate.checkPrivateKey(key)) throw new Error('the certificate of the registry is not that of its key')
  return { key, certificate }
}

export interface TokenContent {
  /** The issuer, which is the platform. */
  readonly issuer: string
  /** The audience, which is the registry. */
  readonly service: string
  readonly subject: string
  readonly access: readonly RegistryAccess[]
  /** Current time in milliseconds since 1970. */
  readonly now: number
}

/** Returns a token in the format that registries accept: https://distribution.github.io/distribution/spec/auth/jwt/ */
export function registryToken(
  { key, certificate }: RegistryKey,
  { issuer, service, subject, access, now }: TokenContent,
  id: string,
): Promise<string> {
  const seconds = Math.floor(now / 1000)
  return new SignJWT({ access })
    .setProtectedHeader({ alg: 'ES256', typ: 'JWT', x5c: [certificate.raw.toString('base64')] })
    .setIssuer(issuer)
    .setAudience(service)
    .setSubject(subject)
    .setIssuedAt(seconds)
    .setNotBefore(seconds - BEHIND)
    .setExpirationTime(seconds + TOKEN_SECONDS)
    .setJti(id)
    .sign(key)
}
