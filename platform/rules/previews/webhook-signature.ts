import { createHash, createHmac, timingSafeEqual } from 'node:crypto'

/** The kinds of forges that send webhooks. The kind is also part of the URL to which a forge sends them. */
export const HOOK_FORGES = ['github', 'gitlab', 'gitea'] as const
export type HookForge = (typeof HOOK_FORGES)[number]

/** The headers of a request, in lower case; repeated headers are lists. */
export type HookHeaders = Readonly<Record<string, string | readonly string[] | undefined>>

/** A delivery, with its exact bytes. */
export interface SentHook {
  readonly headers: HookHeaders
  readonly body: Uint8Array
}

/** Maximum difference between the time of a signature and the current time, in milliseconds. */
const SKEW = 5 * 60_000
/** Prefix of GitLab's signing tokens; the rest is the key, in base64. */
const SIGNING = 'whsec_'
const HEX = /^[0-9a-f]{64}$/i
/** Maximum number of signatures of one delivery that are checked. During a rotation, there is one for each key. */
const SIGNATURES = 4

/** Creates the secret of a webhook from 32 random bytes, in the format of its forge. */
export function hookSecret(forge: HookForge, random: Uint8Array): string {
  const bytes = Buffer.from(random)
  return forge === 'gitlab' ? `${SIGNING}${bytes.toString('base64')}` : bytes.toString('base64url')
}

/**
 * True if the sender of a delivery knows the secret. The signature is verified before the body is parsed, over the raw
 * bytes, and in constant time.
 */
export function isSigned(forge: HookForge, secret: string, { headers, body }: SentHook, now: number): boolean {
  // No signature is valid with an empty secret.
  if (secret === '') return false
  if (forge === 'gitlab') return isSignedByGitLab(secret, { headers, body }, now)
  const [signature] = headersOf(forge).flatMap(name => one(headers[name]) ?? [])
  if (signature === undefined) return false
  const hex = signature.replace(/^sha256=/, '')
  return HEX.test(hex) && isSame(Buffer.from(hex, 'hex'), createHmac('sha256', secret).update(body).digest())
}

/**
 * Returns the headers with the signature:
 * https://docs.github.com/webhooks/using-webhooks/validating-webhook-deliveries,
 * https://docs.gitea.com/usage/repository/webhooks
 */
const headersOf = (forge: 'github' | 'gitea'): readonly string[] =>
  forge === 'github'
    ? ['x-hub-signature-256']
    : ['x-gitea-signature', 'x-forgejo-signature', 'x-hub-signature-256', 'x-gogs-signature']

/**
 * True if a delivery of GitLab is authentic. GitLab signs deliveries if it has a signing token
 * (https://www.standardwebhooks.com); otherwise it sends the secret itself
 * (https://docs.gitlab.com/user/project/integrations/webhooks/). If there is a signature, it has to be valid.
 */
function isSignedByGitLab(secret: string, { headers, body }: SentHook, now: number): boolean {
  if (headers['webhook-signature'] === undefined) {
    const token = one(headers['x-gitlab-token'])
    return token !== undefined && isSame(hash(token), hash(secret))
  }
  const [id, time, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map(name =>
    one(headers[name]),
  )
  if (!id || !time || !signatures || !/^\d{1,12}$/.test(time)) return false
  if (Math.abs(now - Number(time) * 1000) > SKEW) return false
  const key = Buffer.from(secret.startsWith(SIGNING) ? secret.slice(SIGNING.length) : '', 'base64')
  if (key.length === 0) return false
  const wanted = createHmac('sha256', key).update(`${id}.${time}.`).update(body).digest()
  return signatures
    .split(' ', SIGNATURES)
    .some(text => text.startsWith('v1,') && isSame(Buffer.from(text.slice(3), 'base64'), wanted))
}

/**
 * Returns the value of a header; undefined if the header is missing or repeated. A repeated header is not used, because
 * proxies and servers disagree about which value counts.
 */
const one = (header: string | readonly string[] | undefined): string | undefined =>
  typeof header === 'string' && header !== '' ? header : undefined

const hash = (text: string): Buffer => createHash('sha256').update(text).digest()

const isSame = (a: Uint8Array, b: Uint8Array): boolean => a.length === b.length && timingSafeEqual(a, b)
