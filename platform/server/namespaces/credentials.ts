import type { SealedEntry, SecretOwner } from '../../records/sealed-entries.ts'
import { isForgeHost } from '../../rules/repository-url.ts'
import type { ServerContext } from '../context.ts'
import { PlatformError } from '../http/platform-error.ts'
import { SealedStore } from '../leader/sealed-store.ts'

/** A user and a password, or token, of a forge. */
export interface CloneLogin {
  readonly user: string
  readonly password: string
}

/**
 * Credentials of forges that people have stored for the clones of runs. Their passwords are sealed, and never shown.
 */
export class ForgeCredentials {
  readonly #store: SealedStore

  constructor(world: ServerContext) {
    this.#store = new SealedStore(world, 'credentials')
  }

  /** Returns the credentials of an owner by host. */
  async list(owner: SecretOwner): Promise<ReadonlyMap<string, SealedEntry>> {
    const found = await this.#store.entries(owner)
    return new Map([...found].map(([key, entry]) => [hostOfKey(key), entry]))
  }

  /** Throws a PlatformError for an invalid host, user or password. */
  async set(owner: SecretOwner, by: string, host: string, wanted: CloneLogin): Promise<void> {
    const { user, password } = checkLogin(wanted)
    await this.#store.change(owner, by, new Map([[keyOf(host), { value: password, note: user }]]))
  }

  /** False if there was none. */
  remove(owner: SecretOwner, by: string, host: string): Promise<boolean> {
    return this.#store.change(owner, by, new Map([[keyOf(host), undefined]]))
  }

  /**
   * The credential for a run in a namespace: that of the namespace, otherwise that of the user who started it, if any.
   */
  async loginFor(
    namespace: { readonly name: string; readonly uid: string },
    user: string | undefined,
    host: string,
  ): Promise<CloneLogin | undefined> {
    if (!isForgeHost(host)) return undefined
    const owners: readonly SecretOwner[] = [
      { kind: 'namespace', ...namespace },
      ...(user === undefined ? [] : [{ kind: 'user', id: user } as const]),
    ]
    return this.#first(owners, host)
  }

  /** The credentials that a person has stored for themselves. */
  async ownLogin(user: string, host: string): Promise<CloneLogin | undefined> {
    return isForgeHost(host) ? this.#first([{ kind: 'user', id: user }], host) : undefined
  }

  async #first(owners: readonly SecretOwner[], host: string): Promise<CloneLogin | undefined> {
    for (const owner of owners) {
      const entry = (await this.#store.entries(owner)).get(keyOf(host))
      if (!entry) continue
      const password = this.#store.open(owner, keyOf(host), entry)
      return password === undefined ? undefined : { user: entry.note ?? '', password }
    }
    return undefined
  }
}

/** Throws a PlatformError for an invalid user or password: both are lines in the input of git's credential protocol. */
export function checkLogin(login: CloneLogin): CloneLogin {
  // The user is also shown.
  if (!/[\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u.test(login.user) && isLine(login.user) && isLine(login.password)) return login
  throw new PlatformError(400, 'value', 'the user or the password has a line break or a control character')
}

/** A key of a Secret cannot contain a colon, and a host has no underscore. */
function keyOf(host: string): string {
  checkHost(host)
  return host.replace(':', '_')
}

/** Throws a PlatformError for an invalid host. */
export function checkHost(host: string): void {
  if (isForgeHost(host)) return
  throw new PlatformError(400, 'host', `\`${host}\` is not a host of a forge`, {
    hint: 'write it in lower case and without `https://`: `git.example.com`',
  })
}

const hostOfKey = (key: string): string => key.replace('_', ':')

const isLine = (text: string): boolean => !/[\u0000-\u001f\u007f]/.test(text)
