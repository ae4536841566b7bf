import { ClusterError } from '../../../adapters/kubernetes/cluster.ts'
import { type EmptiedNamespace, emptiedName, fromEmptied, toEmptied } from '../../records/emptied.ts'
import { MANAGER, RECORD_LABEL, USERS_NAMESPACE } from '../../records/names.ts'
import type { ManagedNamespace } from '../../records/namespace.ts'
import type { NamespaceRole } from '../../rules/accounts/roles.ts'
import type { ServerContext } from '../context.ts'

const SECRETS = { apiVersion: 'v1', kind: 'Secret', namespace: USERS_NAMESPACE }
/** Maximum number of attempts for an update that conflicts. */
const ATTEMPTS = 5

/**
 * The records of personal namespaces that are being emptied. They contain the members that each namespace gets back.
 */
export class EmptiedNamespaces {
  readonly #cluster: ServerContext['cluster']

  constructor({ cluster }: Pick<ServerContext, 'cluster'>) {
    this.#cluster = cluster
  }

  async list(signal?: AbortSignal): Promise<readonly EmptiedNamespace[]> {
    const found = await this.#cluster.list({ ...SECRETS, labels: `${RECORD_LABEL}=emptied` }, { signal })
    return found.flatMap(one => toEmptied(one) ?? [])
  }

  /** Returns the record of a user's personal namespace; undefined if there is no valid record. */
  async find(owner: string, signal?: AbortSignal): Promise<EmptiedNamespace | undefined> {
    const live = await this.#cluster.get({ ...SECRETS, name: emptiedName(owner) }, { signal })
    return live && toEmptied(live)
  }

  async write(emptied: EmptiedNamespace): Promise<void> {
    await this.#cluster.apply(fromEmptied(emptied), { manager: MANAGER, force: true })
  }

  async remove(owner: string): Promise<void> {
    await this.#cluster.delete({ ...SECRETS, name: emptiedName(owner) })
  }

  /**
   * Changes the role that a user gets in the recreated namespace; an undefined role means that the user is no longer a
   * member. Returns false if nothing had to change, because the namespace is not being emptied or the record already
   * contains the role.
   */
  async noteRole(
    { name, owner }: Pick<ManagedNamespace, 'name' | 'owner'>,
    user: string,
    role: NamespaceRole | undefined,
  ): Promise<boolean> {
    for (let attempt = 1; ; attempt++) {
      const live = await this.#cluster.get({ ...SECRETS, name: emptiedName(owner) })
      const emptied = live && toEmptied(live)
      if (emptied?.name !== name) return false
      if (emptied.members.find(one => one.user === user)?.role === role) return false
      const others = emptied.members.filter(one => one.user !== user)
      const members = role === undefined ? others : [...others, { user, role }]
      const { data } = fromEmptied({ ...emptied, members })
      const patch = { metadata: { resourceVersion: live?.metadata.resourceVersion }, data }
      try {
        await this.#cluster.patch({ ...SECRETS, name: emptiedName(owner) }, patch, { manager: MANAGER })
        return true
      } catch (error) {
        const mayPass = error instanceof ClusterError && ['conflict', 'not-found'].includes(error.failure)
        if (!mayPass || attempt >= ATTEMPTS) throw error
      }
    }
  }
}
