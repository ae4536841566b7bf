import { MANAGER, RECORD_LABEL, rfc3339, USERS_NAMESPACE, userAccount } from '../records/names.ts'
import { fromUser, type PlatformUser, toUser } from '../records/user.ts'
import { userId } from '../rules/names.ts'
import type { PlatformRole } from '../rules/roles.ts'
import { PlatformError } from './platform-error.ts'
import type { PlatformWorld } from './world.ts'

/** Who a provider says somebody is. */
export interface ProvenIdentity {
  readonly issuer: string
  readonly subject: string
  readonly login: string
  readonly name?: string
  readonly email?: string
}

/** The issuer of people who came by a link and have no provider. */
export const LINK_ISSUER = 'devctl'

/** The people of the platform, as ServiceAccounts. */
export class Users {
  readonly #world: PlatformWorld

  constructor(world: PlatformWorld) {
    this.#world = world
  }

  async find(id: string): Promise<PlatformUser | undefined> {
    const ref = { apiVersion: 'v1', kind: 'ServiceAccount', name: userAccount(id), namespace: USERS_NAMESPACE }
    const live = await this.#world.cluster.get(ref)
    return live && toUser(live)
  }

  async all(): Promise<readonly PlatformUser[]> {
    const query = { apiVersion: 'v1', kind: 'ServiceAccount', namespace: USERS_NAMESPACE }
    const found = await this.#world.cluster.list({ ...query, labels: `${RECORD_LABEL}=user` })
    return found.flatMap(one => toUser(one) ?? []).sort((a, b) => (a.login < b.login ? -1 : 1))
  }

  /** All of them, by their id. */
  async byId(): Promise<ReadonlyMap<string, PlatformUser>> {
    return new Map((await this.all()).map(user => [user.id, user]))
  }

  /** One that is there. Throws a PlatformError. */
  async known(id: string): Promise<PlatformUser> {
    const user = await this.find(id)
    if (!user) throw new PlatformError(404, 'no-user', 'this user does not exist')
    return user
  }

  /**
   * Notes that somebody has logged in; the first time makes the user. What the provider says now
   * replaces what it said; role and home are ours. `role` is for those who come by a setup link.
   */
  async loggedIn(identity: ProvenIdentity, role?: PlatformRole): Promise<PlatformUser> {
    const id = userId(identity.issuer, identity.subject)
    const known = await this.find(id)
    return this.save({
      ...identity,
      id,
      role: role ?? known?.role ?? 'developer',
      lastLogin: rfc3339(this.#world.now()),
      ...(known?.home !== undefined && { home: known.home }),
      ...(known?.isSuspended && { isSuspended: true }),
    })
  }

  /** Changes some of what is known of somebody who is there. */
  async change(id: string, change: Partial<PlatformUser>): Promise<void> {
    const user = await this.find(id)
    if (user) await this.save({ ...user, ...change })
  }

  async save(user: PlatformUser): Promise<PlatformUser> {
    await this.#world.cluster.apply(fromUser(user), { manager: MANAGER, force: true })
    return user
  }
}
