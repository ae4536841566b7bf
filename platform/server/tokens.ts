import { RECORD_LABEL, tokenSecret, USER_LABEL, USERS_NAMESPACE } from '../records/names.ts'
import { fromToken, type TokenRecord, toToken } from '../records/token.ts'
import { isSecretOf, makeToken, parseToken, secretHash, type TokenKind, tokenText } from '../rules/token.ts'
import { type PlatformWorld, rfc3339 } from './world.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

/** Milliseconds that a token lives by default; none lives for ever (design, section 4). */
export const LIFETIMES: Readonly<Record<TokenKind, number>> = {
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
  /** Milliseconds; default: that of its kind. */
  readonly lifetime?: number
}

/** A token that was just made; its text is never to be had again. */
export interface IssuedToken {
  readonly text: string
  readonly record: TokenRecord
}

/** The tokens of the platform, in Secrets. */
export class Tokens {
  readonly #world: PlatformWorld

  constructor(world: PlatformWorld) {
    this.#world = world
  }

  async issue({ kind, label, user, namespaces, lifetime = LIFETIMES[kind] }: NewToken): Promise<IssuedToken> {
    const { cluster, now, random } = this.#world
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
    }
    await cluster.create(fromToken(record))
    return { text: tokenText(parts), record }
  }

  /** The record of a token that somebody has shown; undefined if it is wrong, has expired, or was deleted. */
  async check(text: string): Promise<TokenRecord | undefined> {
    const parts = parseToken(text)
    const record = parts && (await this.find(parts.id))
    if (!parts || !record || record.kind !== parts.kind || !isSecretOf(record.hash, parts.secret)) return undefined
    return Date.parse(record.expires) > this.#world.now() ? record : undefined
  }

  async find(id: string): Promise<TokenRecord | undefined> {
    const ref = { apiVersion: 'v1', kind: 'Secret', name: tokenSecret(id), namespace: USERS_NAMESPACE }
    const live = await this.#world.cluster.get(ref)
    return live && toToken(live)
  }

  /** Those of a user that are good still, the newest first. */
  async of(user: string): Promise<readonly TokenRecord[]> {
    const labels = `${RECORD_LABEL}=token,${USER_LABEL}=${user}`
    const found = await this.#world.cluster.list({
      apiVersion: 'v1',
      kind: 'Secret',
      namespace: USERS_NAMESPACE,
      labels,
    })
    const now = this.#world.now()
    return found
      .flatMap(one => toToken(one) ?? [])
      .filter(({ expires }) => Date.parse(expires) > now)
      .sort((a, b) => (a.created < b.created ? 1 : -1))
  }

  /** False if there was none: of those who use a token that is good for once, one gets true. */
  revoke(id: string): Promise<boolean> {
    return this.#world.cluster.delete({
      apiVersion: 'v1',
      kind: 'Secret',
      name: tokenSecret(id),
      namespace: USERS_NAMESPACE,
    })
  }

  /** Ends all tokens of a user, and what was given out for them. */
  async revokeAll(user: string): Promise<void> {
    await Promise.all((await this.of(user)).map(({ id }) => this.revoke(id)))
  }
}
