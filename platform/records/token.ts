import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { isTokenId, makeToken, secretHash, TOKEN_KINDS, type TokenKind, tokenText } from '../rules/accounts/token.ts'
import { isUserId } from '../rules/names.ts'
import { CODE_TRUSTS, type CodeTrust } from '../rules/previews/pull-trust.ts'
import { MANAGED_LABEL, RECORD_LABEL, rfc3339, tokenSecret, USER_LABEL, USERS_NAMESPACE } from './names.ts'

/**
 * A platform token, stored as a Secret in `devctl-users`. Kubernetes tokens are bound to this Secret, so deleting it
 * revokes all Kubernetes tokens that were issued for it.
 */
export interface TokenRecord {
  readonly id: string
  readonly kind: TokenKind
  /** Hash of the token's secret. */
  readonly hash: string
  /** The id of the user who owns the token; absent for setup links and invitations. */
  readonly user?: string
  /** The name that the owner chose, such as `laptop-7`. */
  readonly label: string
  /** RFC 3339 times at which the token was created and expires. All tokens expire. */
  readonly created: string
  readonly expires: string
  /** RFC 3339 time of the last recorded use. It is updated at most once a minute. */
  readonly lastUse?: string
  /** If present, the token can be used only in these namespaces. */
  readonly namespaces?: readonly string[]
  /** Prefix of the preview names that the token of a CI job may use; absent for other tokens. */
  readonly prefix?: string
  /** Origin of the code that uses the token. Absent unless the token belongs to a run that no user started. */
  readonly trust?: CodeTrust
}

const MINUTE = 60_000
const HOUR = 3_600_000
const DAY = 24 * HOUR

/**
 * Maximum time in milliseconds between the creation and the end of a session. Each use extends the session by its
 * default lifetime, but not beyond this maximum. An unused session ends earlier, when its default lifetime is over.
 */
export const LONGEST_SESSION = 7 * DAY

/** Default lifetimes in milliseconds, by kind of token. All tokens expire (design, section 4). */
const LIFETIMES: Readonly<Record<TokenKind, number>> = {
  session: 12 * HOUR,
  api: 90 * DAY,
  cli: 30 * DAY,
  run: 2 * HOUR,
  ci: HOUR,
  setup: HOUR,
  invite: HOUR,
}

export interface NewToken {
  readonly kind: TokenKind
  readonly label: string
  readonly user?: string
  readonly namespaces?: readonly string[]
  /** Required for the token of a CI job; other tokens have no prefix. */
  readonly prefix?: string
  readonly trust?: CodeTrust
  /** Lifetime in milliseconds; if absent, the default lifetime of the kind. */
  readonly lifetime?: number
}

/** A newly issued token. Its text cannot be retrieved later. */
export interface IssuedToken {
  readonly text: string
  readonly record: TokenRecord
}

/** Creates a token and its record, without storing the record. The token is valid once the record is in the cluster. */
export function newToken(
  { kind, label, user, namespaces, prefix, trust, lifetime = LIFETIMES[kind] }: NewToken,
  { now, random }: { now(): number; random(bytes: number): Uint8Array },
): IssuedToken {
  const parts = makeToken(kind, { id: random(10), secret: random(32) })
  const record: TokenRecord = {
    id: parts.id,
    kind,
    label,
    hash: secretHash(parts.secret),
    created: rfc3339(now()),
    expires: rfc3339(now() + lifetime),
    ...(user !== undefined && { user }),
    ...(namespaces !== undefined && { namespaces }),
    ...(prefix !== undefined && { prefix }),
    ...(trust && { trust }),
  }
  return { text: tokenText(parts), record }
}

/**
 * Returns the record with a new time of the last use and, for a session, a later expiry time. Returns undefined if a
 * use was recorded within the last minute.
 */
export function usedToken(record: TokenRecord, now: number): TokenRecord | undefined {
  if (record.lastUse !== undefined && now - Date.parse(record.lastUse) < MINUTE) return undefined
  const latest = Date.parse(record.created) + LONGEST_SESSION
  const isSession = record.kind === 'session'
  return {
    ...record,
    lastUse: rfc3339(now),
    ...(isSession && { expires: rfc3339(Math.min(now + LIFETIMES.session, latest)) }),
  }
}

export function fromToken({ id, user, ...rest }: TokenRecord): KubeObject {
  const text = JSON.stringify({ ...rest, ...(user !== undefined && { user }) })
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name: tokenSecret(id),
      namespace: USERS_NAMESPACE,
      labels: { [RECORD_LABEL]: 'token', [MANAGED_LABEL]: 'true', ...(user !== undefined && { [USER_LABEL]: user }) },
    },
    type: 'dev.platform/token',
    data: { token: Buffer.from(text).toString('base64') },
  }
}

/** Parses a Secret. Returns undefined if it is not a valid token; such a token is not accepted. */
export function toToken({ metadata, data }: KubeObject): TokenRecord | undefined {
  const id = metadata.name.replace(/^t-/, '')
  if (metadata.name !== tokenSecret(id) || !isTokenId(id)) return undefined
  const found = parse((data as { readonly token?: unknown } | undefined)?.token)
  const text = (key: string) => (typeof found?.[key] === 'string' ? (found[key] as string) : undefined) // it was looked at
  const [hash, created, expires, user, lastUse] = ['hash', 'created', 'expires', 'user', 'lastUse'].map(text)
  const kind = TOKEN_KINDS.find(one => one === found?.['kind'])
  if (!kind || !hash || !created || !expires || Number.isNaN(Date.parse(expires))) return undefined
  if (user !== undefined && !isUserId(user)) return undefined
  const namespaces = found?.['namespaces']
  if (namespaces !== undefined && !isTexts(namespaces)) return undefined
  const prefix = text('prefix')
  // The token of a CI job would be valid for all names if the prefix were missing.
  if (kind === 'ci' && !prefix) return undefined
  const trust = CODE_TRUSTS.find(one => one === found?.['trust'])
  if (found?.['trust'] !== undefined && !trust) return undefined
  return {
    id,
    kind,
    hash,
    label: text('label') ?? '',
    created,
    expires,
    ...(user !== undefined && { user }),
    ...(lastUse !== undefined && { lastUse }),
    ...(namespaces !== undefined && { namespaces }),
    ...(prefix !== undefined && { prefix }),
    ...(trust && { trust }),
  }
}

function parse(data: unknown): Readonly<Record<string, unknown>> | undefined {
  if (typeof data !== 'string') return undefined
  try {
    const value: unknown = JSON.parse(Buffer.from(data, 'base64').toString())
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined // an object
  } catch {
    return undefined
  }
}

const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every(one => typeof one === 'string')
