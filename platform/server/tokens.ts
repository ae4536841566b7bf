import { MANAGER, RECORD_LABEL, tokenSecret, USER_LABEL, USERS_NAMESPACE } from '../records/names.ts'
import {
  fromToken,
  type IssuedToken,
  type NewToken,
  newToken,
  type TokenRecord,
  toToken,
  usedToken,
} from '../records/token.ts'
import { isSecretOf, parseToken, type TokenKind } from '../rules/token.ts'
import { PlatformError } from './platform-error.ts'
import type { PlatformWorld } from './world.ts'

/** Tokens of one person at the same time, by kind; others end soon by themselves. */
const MOST: Readonly<Partial<Record<TokenKind, number>>> = { session: 50, cli: 50, api: 100 }

/** The tokens of the platform, in Secrets. */
export class Tokens {
  readonly #world: PlatformWorld

  constructor(world: PlatformWorld) {
    this.#world = world
  }

  /** Makes a token. Throws a PlatformError for a program of somebody who has too many. */
  async issue(wanted: NewToken): Promise<IssuedToken> {
    await this.#makeRoom(wanted)
    const issued = newToken(wanted, this.#world)
    await this.#world.cluster.create(fromToken(issued.record))
    return issued
  }

  /** Somebody who logs in again and again ends their oldest logins; what they have made themselves they end themselves. */
  async #makeRoom({ kind, user }: NewToken): Promise<void> {
    const most = MOST[kind]
    if (most === undefined || user === undefined) return
    const same = (await this.of(user)).filter(one => one.kind === kind)
    if (same.length < most) return
    if (kind === 'api')
      throw new PlatformError(409, 'quota', `you have ${same.length} tokens for programs, the most that you may`, {
        hint: 'delete one that is not used any more',
      })
    await Promise.all(same.slice(most - 1).map(({ id }) => this.revoke(id)))
  }

  /** The record of a token that somebody has shown; undefined if it is wrong, has expired, or was deleted. */
  async check(text: string): Promise<TokenRecord | undefined> {
    const parts = parseToken(text)
    const record = parts && (await this.find(parts.id))
    if (!parts || !record || record.kind !== parts.kind || !isSecretOf(record.hash, parts.secret)) return undefined
    return Date.parse(record.expires) > this.#world.now() ? record : undefined
  }

  /** Notes a use, once an hour. */
  async noteUse(record: TokenRecord): Promise<void> {
    const used = usedToken(record, this.#world.now())
    if (!used) return
    const { apiVersion, kind, metadata, data } = fromToken(used)
    // A patch does not bring back what was deleted a moment ago.
    await this.#world.cluster.patch({ apiVersion, kind, ...metadata }, { data }, { manager: MANAGER })
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

  /**
   * Logs somebody out everywhere: what was given out for their tokens ends, and the tokens of their programs
   * are there still, for when their owner may use them again.
   */
  async suspendAll(user: string): Promise<void> {
    await Promise.all(
      (await this.of(user)).map(async record => {
        // Tokens of Kubernetes are bound to the very object.
        if ((await this.revoke(record.id)) && record.kind === 'api') await this.#world.cluster.create(fromToken(record))
      }),
    )
  }

  /** Ends all tokens of a user, and what was given out for them. */
  async revokeAll(user: string): Promise<void> {
    await Promise.all((await this.of(user)).map(({ id }) => this.revoke(id)))
  }
}
