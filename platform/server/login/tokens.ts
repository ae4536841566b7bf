import { MANAGER, RECORD_LABEL, tokenSecret, USER_LABEL, USERS_NAMESPACE } from '../../records/names.ts'
import {
  fromToken,
  type IssuedToken,
  type NewToken,
  newToken,
  type TokenRecord,
  toToken,
  usedToken,
} from '../../records/token.ts'
import { isSecretOf, parseToken, type TokenKind } from '../../rules/accounts/token.ts'
import type { ServerContext } from '../context.ts'
import { PlatformError } from '../http/platform-error.ts'

/** Tokens that one person may have at the same time, by kind; other kinds expire soon. */
const MOST: Readonly<Partial<Record<TokenKind, number>>> = { session: 50, cli: 50, api: 100 }

/** The tokens of the platform, in Secrets. */
export class Tokens {
  readonly #world: ServerContext

  constructor(world: ServerContext) {
    this.#world = world
  }

  /** Creates a token. Throws a PlatformError if it is for programs and the user has too many. */
  async issue(wanted: NewToken): Promise<IssuedToken> {
    await this.#makeRoom(wanted)
    const issued = newToken(wanted, this.#world)
    await this.#world.cluster.create(fromToken(issued.record))
    return issued
  }

  /**
   * Frequent logins end the oldest sessions of a user; tokens that users created themselves are only deleted by them.
   */
  async #makeRoom({ kind, user }: NewToken): Promise<void> {
    const most = MOST[kind]
    if (most === undefined || user === undefined) return
    const same = (await this.of(user)).filter(one => one.kind === kind)
    if (same.length < most) return
    if (kind === 'api')
      throw new PlatformError(409, 'quota', `you have ${same.length} tokens for programs, which is the limit`, {
        hint: 'delete one that you no longer use',
      })
    await Promise.all(same.slice(most - 1).map(({ id }) => this.revoke(id)))
  }

  /** The record of a token; undefined if it is wrong, has expired, or was deleted. */
  async check(text: string): Promise<TokenRecord | undefined> {
    const parts = parseToken(text)
    const record = parts && (await this.find(parts.id))
    if (!parts || !record || record.kind !== parts.kind || !isSecretOf(record.hash, parts.secret)) return undefined
    return Date.parse(record.expires) > this.#world.now() ? record : undefined
  }

  /** Records a use, once a minute. */
  async noteUse(record: TokenRecord): Promise<void> {
    const used = usedToken(record, this.#world.now())
    if (!used) return
    const { apiVersion, kind, metadata, data } = fromToken(used)
    // A patch does not recreate a record that was deleted a moment ago.
    await this.#world.cluster.patch({ apiVersion, kind, ...metadata }, { data }, { manager: MANAGER })
  }

  async find(id: string): Promise<TokenRecord | undefined> {
    const ref = { apiVersion: 'v1', kind: 'Secret', name: tokenSecret(id), namespace: USERS_NAMESPACE }
    const live = await this.#world.cluster.get(ref)
    return live && toToken(live)
  }

  /** The valid tokens of a user, the newest first. */
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

  /** False if there was none: of several concurrent users of a one-time token, one gets true. */
  revoke(id: string): Promise<boolean> {
    return this.#world.cluster.delete({
      apiVersion: 'v1',
      kind: 'Secret',
      name: tokenSecret(id),
      namespace: USERS_NAMESPACE,
    })
  }

  /**
   * Revokes logins, and the tokens of Kubernetes that were issued for all these tokens. Tokens for programs are kept,
   * for when their owner is allowed in again.
   */
  async suspend(records: readonly TokenRecord[]): Promise<void> {
    await Promise.all(
      records.map(async record => {
        // Tokens of Kubernetes are bound to the uid of this object.
        if ((await this.revoke(record.id)) && record.kind === 'api') await this.#world.cluster.create(fromToken(record))
      }),
    )
  }

  /** Deletes all tokens of a user, which revokes the tokens of Kubernetes that were issued for them. */
  async revokeAll(user: string): Promise<void> {
    await Promise.all((await this.of(user)).map(({ id }) => this.revoke(id)))
  }
}
