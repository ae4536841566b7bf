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

/** Maximum number of tokens of one user, by kind. Other kinds have no limit, because they expire soon. */
const MOST: Readonly<Partial<Record<TokenKind, number>>> = { session: 50, cli: 50, api: 100 }

/** The tokens of the platform, in Secrets. */
export class Tokens {
  readonly #world: ServerContext

  constructor(world: ServerContext) {
    this.#world = world
  }

  /** Creates a token. Throws a PlatformError if it is an API token and the user has too many. */
  async issue(wanted: NewToken): Promise<IssuedToken> {
    await this.#makeRoom(wanted)
    const issued = newToken(wanted, this.#world)
    await this.#world.cluster.create(fromToken(issued.record))
    return issued
  }

  /**
   * Deletes the oldest sessions or CLI logins of a user who has too many. API tokens are not deleted; if a user has too
   * many of them, a PlatformError is thrown.
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

  /** Returns the record of a token; undefined if the token is wrong, has expired or was deleted. */
  async check(text: string): Promise<TokenRecord | undefined> {
    const parts = parseToken(text)
    const record = parts && (await this.find(parts.id))
    if (!parts || !record || record.kind !== parts.kind || !isSecretOf(record.hash, parts.secret)) return undefined
    return Date.parse(record.expires) > this.#world.now() ? record : undefined
  }

  /** Records a use of the token, at most once a minute. */
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

  /** Returns the valid tokens of a user, the newest first. */
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

  /**
   * Deletes a token. Returns false if it did not exist: of several concurrent callers, only one gets true, so a
   * one-time token is used only once.
   */
  revoke(id: string): Promise<boolean> {
    return this.#world.cluster.delete({
      apiVersion: 'v1',
      kind: 'Secret',
      name: tokenSecret(id),
      namespace: USERS_NAMESPACE,
    })
  }

  /**
   * Revokes the given tokens, and the Kubernetes tokens that were issued for them. API tokens are recreated at once, so
   * that they are valid again when their owner is allowed to log in again.
   */
  async suspend(records: readonly TokenRecord[]): Promise<void> {
    await Promise.all(
      records.map(async record => {
        // Deleting the Secret revokes Kubernetes tokens, because they are bound to its UID.
        if ((await this.revoke(record.id)) && record.kind === 'api') await this.#world.cluster.create(fromToken(record))
      }),
    )
  }

  /** Deletes all tokens of a user, which also revokes the Kubernetes tokens that were issued for them. */
  async revokeAll(user: string): Promise<void> {
    await Promise.all((await this.of(user)).map(({ id }) => this.revoke(id)))
  }
}
