import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { SignJWT } from 'jose'
import type { RegistryAccess } from '../../rules/registry-access.ts'

/** With what the platform signs tokens that the registry believes. */
export interface RegistryKey {
  readonly key: KeyObject
  readonly certificate: X509Certificate
}

/** Seconds that a token is good for: who may not any more can for so long still. */
export const TOKEN_SECONDS = 300
/** Seconds by which the clock of the registry may be behind. */
const BEHIND = 30

/** The key in a folder, as a mounted Secret has it; undefined where there is none. Throws an Error for one that is not whole. */
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

/** Throws an Error for a certificate of another key: no registry would believe it. */
export function toRegistryKey(keyText: string, certificateText: string): RegistryKey {
  const [key, certificate] = [createPrivateKey(keyText), new X509Certificate(certificateText)]
  if (!certificate.checkPrivateKey(key)) throw new Error('the certificate of the registry is not that of its key')
  return { key, certificate }
}

export interface TokenContent {
  /** Who has issued it: the platform. */
  readonly issuer: string
  /** The registry that it is for. */
  readonly service: string
  readonly subject: string
  readonly access: readonly RegistryAccess[]
  /** Milliseconds since 1970. */
  readonly now: number
}

/** A token of the form that registries take: https://distribution.github.io/distribution/spec/auth/jwt/ */
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
