import { backOff, pause } from '../../../adapters/http/back-off.ts'
import { ClusterError, type KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import { MANAGER, RECORD_LABEL, rfc3339, USERS_NAMESPACE, userAccount } from '../../records/names.ts'
import { fromUser, type PlatformUser, toUser } from '../../records/user.ts'
import type { PlatformRole } from '../../rules/accounts/roles.ts'
import { userId } from '../../rules/names.ts'
import type { ServerContext } from '../context.ts'
import { PlatformError } from '../http/platform-error.ts'

/** A user's identity according to a provider. */
export interface ProvenIdentity {
  readonly issuer: string
  readonly subject: string
  readonly login: string
  readonly name?: string
  readonly email?: string
}

/** The issuer of users who have no provider because they logged in with a link. */
export const LINK_ISSUER = 'devctl'

/** The users of the platform, stored as ServiceAccounts. */
export class Users {
  readonly #world: ServerContext

  constructor(world: ServerContext) {
    this.#world = world
  }

  async find(id: string): Promise<PlatformUser | undefined> {
    const live = await this.#world.cluster.get(refOf(id))
    return live && toUser(live)
  }

  async all(): Promise<readonly PlatformUser[]> {
    const query = { apiVersion: 'v1', kind: 'ServiceAccount', namespace: USERS_NAMESPACE }
    const found = await this.#world.cluster.list({ ...query, labels: `${RECORD_LABEL}=user` })
    return found.flatMap(one => toUser(one) ?? []).sort((a, b) => (a.login < b.login ? -1 : 1))
  }

  /** Returns all users by their id. */
  async byId(): Promise<ReadonlyMap<string, PlatformUser>> {
    return new Map((await this.all()).map(user => [user.id, user]))
  }

  /** Returns an existing user. Throws a PlatformError if the user does not exist. */
  async known(id: string): Promise<PlatformUser> {
    const user = await this.find(id)
    if (!user) throw noUser()
    return user
  }

  /**
   * Records a login. The first login creates the user. The provider's current data replaces the data of the previous
   * login; all other fields belong to the platform and are kept. `role` is set for logins with a setup link.
   */
  async loggedIn(identity: ProvenIdentity, role?: PlatformRole): Promise<PlatformUser> {
    const id = userId(identity.issuer, identity.subject)
    return this.#write(id, known => ({
      ...identity,
      id,
      role: role ?? known?.role ?? 'developer',
      lastLogin: rfc3339(this.#world.now()),
      ...(known?.home !== undefined && { home: known.home }),
      ...(known?.isSuspended && { isSuspended: true }),
      ...(known?.isSuspended && known.barred !== undefined && { barred: known.barred }),
    }))
  }

  /** Changes some fields of a user. Throws a PlatformError if the user does not exist. */
  async change(id: string, change: Partial<Pick<PlatformUser, ChangedField>>): Promise<PlatformUser> {
    return this.#write(id, known => {
      if (!known) throw noUser()
      return this.#changed(known, change)
    })
  }

  /**
   * Refuses a user until their next login. Does nothing if the user has logged in after `lastLogin`. Returns true if
   * the user is now refused.
   */
  async refuse({ id, lastLogin }: Pick<PlatformUser, 'id' | 'lastLogin'>): Promise<boolean> {
    const saved = await this.#write(id, known => {
      if (!known) throw noUser()
      return known.lastLogin === lastLogin ? this.#changed(known, { isRefused: true }) : known
    })
    return saved.lastLogin === lastLogin
  }

  #changed(known: PlatformUser, change: Partial<Pick<PlatformUser, ChangedField>>): PlatformUser {
    const isBarred = (change.isSuspended && !known.isSuspended) || (change.isRefused && !known.isRefused)
    // The time has milliseconds, so that all tokens issued just before this moment become invalid.
    const barred = isBarred && { barred: new Date(this.#world.now()).toISOString() }
    return { ...known, ...change, ...barred }
  }

  /**
   * Creates the record of a user, or writes only the fields that `edit` changes in the record that was read. Retries
   * after a conflict, so that no concurrent change is lost.
   */
  async #write(id: string, edit: (known: PlatformUser | undefined) => PlatformUser): Promise<PlatformUser> {
    const { cluster } = this.#world
    for (let attempt = 1; ; attempt++) {
      const live = await cluster.get(refOf(id))
      const known = live && toUser(live)
      const wanted = fromUser(edit(known))
      try {
        const written = live
          ? await cluster.patch(refOf(id), changeOf(live, known && fromUser(known), wanted), { manager: MANAGER })
          : await cluster.create(wanted)
        return toUser(written)! // it was made of one
      } catch (error) {
        if (!(error instanceof ClusterError) || !TOO_LATE.has(error.failure)) throw error
        if (attempt >= ATTEMPTS)
          throw new PlatformError(503, 'busy', 'others are changing this at the same time', {
            hint: 'try again in a moment',
          })
        await pause(backOff(attempt, 5, 200), undefined)
      }
    }
  }
}

type Patch = Readonly<Record<string, unknown>>
type ChangedField = 'role' | 'home' | 'isSuspended' | 'asked' | 'isRefused'

/** Maximum number of attempts to update a record that other writers update, too. */
const ATTEMPTS = 10
/** Failures of a write that mean that another writer has changed, created or deleted the record after it was read. */
const TOO_LATE: ReadonlySet<string> = new Set(['conflict', 'exists', 'not-found'])

const refOf = (id: string) => ({
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  name: userAccount(id),
  namespace: USERS_NAMESPACE,
})

const noUser = () => new PlatformError(404, 'no-user', 'this user does not exist')

/** Returns a patch with the changed annotations of a record, for the version that was read. */
function changeOf({ metadata }: KubeObject, known: KubeObject | undefined, wanted: KubeObject): Patch {
  const [before = {}, after = {}] = [known?.metadata.annotations, wanted.metadata.annotations]
  const gone = Object.keys(before).filter(key => !(key in after))
  const changed = Object.entries(after).filter(([key, value]) => before[key] !== value)
  const annotations = Object.fromEntries([...gone.map(key => [key, null] as const), ...changed])
  return { metadata: { resourceVersion: metadata.resourceVersion, annotations } }
}
