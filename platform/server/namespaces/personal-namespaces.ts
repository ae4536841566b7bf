import { toNamespace } from '../../records/namespace.ts'
import type { PlatformUser } from '../../records/user.ts'
import { reservedPrefix } from '../../rules/accounts/ci-trust.ts'
import { personalNamespace } from '../../rules/names.ts'
import type { ServerContext } from '../context.ts'
import { PlatformError } from '../http/platform-error.ts'
import type { Users } from '../login/users.ts'
import type { Namespaces } from './namespaces.ts'

/** The personal namespaces of users. */
export class PersonalNamespaces {
  readonly #world: ServerContext
  readonly #users: Users
  readonly #namespaces: Namespaces

  constructor(world: ServerContext, users: Users, namespaces: Namespaces) {
    this.#world = world
    this.#users = users
    this.#namespaces = namespaces
  }

  /**
   * Creates the personal namespace of a user at their first login. Returns the user, including the name of the
   * namespace.
   */
  async ensure(user: PlatformUser): Promise<PlatformUser> {
    if (user.home !== undefined && (await this.#isOwn(user, user.home)) === true) return user
    const taken = new Set<string>()
    for (let attempt = 0; attempt < 20; attempt++) {
      const { ci } = this.#world.settings
      const name = personalNamespace(
        user.login,
        user.id,
        one => taken.has(one),
        one => reservedPrefix(one, ci) !== undefined,
      )
      try {
        await this.#namespaces.create(user, name, 'personal')
        return await this.#users.change(user.id, { home: name })
      } catch (error) {
        if (!(error instanceof PlatformError) || error.body.code !== 'platform/exists') throw error
        taken.add(name)
      }
    }
    throw new PlatformError(409, 'exists', `no name is free for a namespace of \`${user.login}\``)
  }

  /**
   * Returns the user. If the personal namespace no longer belongs to the user, its name is omitted, because the user
   * must not see it.
   */
  async withOwn({ home, ...user }: PlatformUser): Promise<PlatformUser> {
    if (home === undefined || (await this.#isOwn(user, home)) === false) return user
    return { ...user, home }
  }

  /**
   * Returns true if the personal namespace with this name belongs to the user, and false if the name belongs to another
   * namespace. Returns undefined if the namespace does not exist, for example while it is emptied.
   */
  async #isOwn({ id }: PlatformUser, name: string): Promise<boolean | undefined> {
    const live = await this.#world.cluster.get({ apiVersion: 'v1', kind: 'Namespace', name })
    if (!live) return undefined
    const found = toNamespace(live)
    return found?.kind === 'personal' && found.owner === id
  }
}
