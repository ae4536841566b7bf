import type { SealedEntry, SecretOwner } from '../../records/sealed-entries.ts'
import { isForgeHost } from '../../rules/repository-url.ts'
import type { ServerContext } from '../context.ts'
import { PlatformError } from '../http/platform-error.ts'
import { SealedStore } from '../leader/sealed-store.ts'

/** A user name and a password or token for a forge. */
export interface CloneLogin {
  readonly user: string
  readonly password: string
}

/** Forge credentials that users have stored for cloning in runs. Their passwords are sealed and never shown. */
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

  /** Stores a credential. Throws a PlatformError if the host, user or password is invalid. */
  async set(owner: SecretOwner, by: string, host: string, wanted: CloneLogin): Promise<void> {
    const { user, password } = checkLogin(wanted)
    await this.#store.change(owner, by, new Map([[keyOf(host), { value: password, note: user }]]))
  }

  /** Removes a credential. Returns false if it did not exist. */
  remove(owner: SecretOwner, by: string, host: string): Promise<boolean> {
    return this.#store.change(owner, by, new Map([[keyOf(host), undefined]]))
  }

  /**
   * Returns the credential for a run in a namespace. The credential of the namespace takes precedence over the
   * credential of the user who started the run. Returns undefined if there is neither.
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

  /** Returns the credential that a user has stored for a host; undefined if there is none. */
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

/**
 * Throws a PlatformError if the user name or the password is invalid, because both become lines in the input of git's
 * credential protocol.
 */
export function checkLogin(login: CloneLogin): CloneLogin {
  // The user is also displayed, so invisible characters are refused.
  if (!/[\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u.test(login.user) && isLine(login.user) && isLine(login.password)) return login
  throw new PlatformError(400, 'value', 'the user or the password has a line break or a control character')
}

/**
 * Returns the key of a host in the Secret. A Secret key cannot contain a colon, so the colon before a port is replaced
 * with an underscore, which a host cannot contain.
 */
function keyOf(host: string): string {
  checkHost(host)
  return host.replace(':', '_')
}

/** Throws a PlatformError if a host is invalid. */
export function checkHost(host: string): void {
  if (isForgeHost(host)) return
  throw new PlatformError(400, 'host', `\`${host}\` is not a host of a forge`, {
    hint: 'write it in lower case and without `https://`: `git.example.com`',
  })
}

const hostOfKey = (key: string): string => key.replace('_', ':')

const isLine = (text: string): boolean => !/[\u0000-\u001f\u007f]/.test(text)
