import { toNamespace } from '../../records/namespace.ts'
import type { PlatformUser } from '../../records/user.ts'
import { reservedPrefix } from '../../rules/accounts/ci-trust.ts'
import { personalNamespace } from '../../rules/names.ts'
import { prefixOfPull } from '../../rules/previews/pull-trust.ts'
import type { ServerContext } from '../context.ts'
import { PlatformError } from '../http/platform-error.ts'
import type { Users } from '../login/users.ts'
import type { Namespaces } from './namespaces.ts'
import type { KnownHooks } from './reserved-names.ts'

/** Maximum number of attempts to find a free name. */
const ATTEMPTS = 20

/** Services that are needed to choose and create personal namespaces. */
interface Parts {
  readonly users: Users
  readonly namespaces: Pick<Namespaces, 'create'>
  readonly hooks: KnownHooks
}

/** The personal namespaces of users. */
export class PersonalNamespaces {
  readonly #world: ServerContext
  readonly #parts: Parts

  constructor(world: ServerContext, parts: Parts) {
    this.#world = world
    this.#parts = parts
  }

  /**
   * Creates the personal namespace of a user at their first login, or if it is missing, for example while it is
   * emptied. Returns the user, including the name of the namespace.
   */
  async ensure({ id, login }: PlatformUser): Promise<PlatformUser> {
    const { users } = this.#parts
    const taken = new Set<string>()
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      // Another login of the user may have created the namespace in the meantime.
      const user = await users.known(id)
      const isOwn = user.home === undefined ? false : await this.#isOwn(user, user.home)
      if (isOwn) return user
      const name = await this.#nameFor(user, isOwn === undefined, taken)
      if (await this.#create(user, name)) return users.change(id, { home: name })
      taken.add(name)
    }
    throw new PlatformError(409, 'exists', `no name is free for a namespace of \`${login}\``)
  }

  /** Returns the name of a user's previous namespace if it is missing, otherwise a name that is not reserved. */
  async #nameFor({ home, login, id }: PlatformUser, isMissing: boolean, taken: ReadonlySet<string>): Promise<string> {
    const { ci } = this.#world.settings
    const prefixes = new Set((await this.#parts.hooks.list()).map(({ prefix }) => prefix))
    const isKept = (name: string) => {
      const prefix = prefixOfPull(name)
      return reservedPrefix(name, ci) !== undefined || (prefix !== undefined && prefixes.has(prefix))
    }
    if (home !== undefined && isMissing && !taken.has(home) && !isKept(home)) return home
    return personalNamespace(login, id, name => taken.has(name), isKept)
  }

  /** Creates a personal namespace. Returns false if the name belongs to another user. */
  async #create(user: PlatformUser, name: string): Promise<boolean> {
    try {
      await this.#parts.namespaces.create(user, name, 'personal')
      return true
    } catch (error) {
      if (!(error instanceof PlatformError) || error.body.code !== 'platform/exists') throw error
      return (await this.#isOwn(user, name)) === true
    }
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
