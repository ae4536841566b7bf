import { ClusterError, type KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import { DELETION, type Deletion, fromDeletion } from '../../records/deletion.ts'
import { everybodysBinding, type Member, toMember } from '../../records/member.ts'
import { MANAGER, RECORD_LABEL, rfc3339 } from '../../records/names.ts'
import {
  EXPIRES,
  fromNamespace,
  LAST_ACTIVE,
  type ManagedNamespace,
  type NamespaceKind,
  PERSISTENT,
  STATUS,
  toNamespace,
} from '../../records/namespace.ts'
import { fromPreview, type PreviewSource } from '../../records/preview.ts'
import type { PlatformUser } from '../../records/user.ts'
import { mayDo, type NamespaceAction } from '../../rules/accounts/roles.ts'
import { longerNames as longerNamesOf } from '../../rules/hosts.ts'
import { type Limit, limitsOf, type QuotaStatus } from '../../rules/limits.ts'
import { namespaceNameProblem } from '../../rules/names.ts'
import type { ServerContext } from '../context.ts'
import { noNamespace, onlyFor, PlatformError } from '../http/platform-error.ts'
import { KeyedMutex } from '../leader/keyed-mutex.ts'
import type { Users } from '../login/users.ts'
import type { PullSecrets } from '../registry/pull-secrets.ts'
import type { LongerNames } from './longer-names.ts'
import type { Members } from './members.ts'
import { namespaceDefaults } from './namespace-defaults.ts'
import { listNamespaces, patchNamespace } from './namespace-store.ts'
import { isTaken, requireFree, requireRoom, type WantedNamespace } from './new-namespace.ts'
import type { KnownHooks } from './reserved-names.ts'
import { mayIn, type NamespaceRef, type SharedNamespace } from './shared-namespace.ts'

const RBAC = 'rbac.authorization.k8s.io/v1'

/** Services that are needed to create a namespace. */
interface Parts {
  readonly users: Users
  readonly hooks: KnownHooks
  readonly members: Members
  readonly longerNames: LongerNames
  readonly pullSecrets: PullSecrets
}

/**
 * Minimum interval in milliseconds between two records of work in a namespace. Pages show the time of the last work in
 * minutes.
 */
export const NOTED = 30_000

/** The namespaces of the platform, with the objects that each of them always has. */
export class Namespaces {
  readonly #world: ServerContext
  readonly #parts: Parts
  /** Serializes concurrent creations by one owner, so that each one counts the namespaces created before it. */
  readonly #making = new KeyedMutex()

  constructor(world: ServerContext, parts: Parts) {
    this.#world = world
    this.#parts = parts
  }

  /**
   * Returns the namespaces that a user may see: their own, those that they are members of, and global namespaces.
   * Administrators see all namespaces.
   */
  async visible(user: PlatformUser): Promise<readonly SharedNamespace[]> {
    const { cluster } = this.#world
    const [namespaces, bindings] = await Promise.all([
      listNamespaces(cluster),
      cluster.list({ apiVersion: RBAC, kind: 'RoleBinding', labels: `${RECORD_LABEL}=member` }),
    ])
    const members = new Map<string, Member[]>()
    for (const member of bindings.flatMap(one => toMember(one) ?? [])) {
      const others = members.get(member.namespace)
      if (others) others.push(member)
      else members.set(member.namespace, [member])
    }
    return namespaces
      .map(namespace => ({ namespace, members: members.get(namespace.name) ?? [] }))
      .filter(one => mayIn(one, user, 'see'))
  }

  /** Returns a namespace, if the user may perform the action in it. Throws a PlatformError otherwise. */
  async require(user: PlatformUser, name: string, action: NamespaceAction, what: string): Promise<SharedNamespace> {
    const found = await this.find(name)
    if (!found || !mayIn(found, user, 'see')) throw noNamespace(name)
    if (mayIn(found, user, action)) return found
    if (found.namespace.isGlobal) throw onlyFor(what, 'an administrator')
    if (!mayDo({ platform: 'developer', namespace: 'developer' }, action))
      throw onlyFor(what, `the owner of \`${name}\``)
    throw onlyFor(
      what,
      `the owner or a developer of \`${name}\``,
      `its owner can make you one: \`devctl namespace share ${name} ${user.login} --role developer\``,
    )
  }

  async find(name: string): Promise<SharedNamespace | undefined> {
    const { cluster } = this.#world
    const [live, bindings] = await Promise.all([
      cluster.get({ apiVersion: 'v1', kind: 'Namespace', name }),
      cluster.list({ apiVersion: RBAC, kind: 'RoleBinding', namespace: name, labels: `${RECORD_LABEL}=member` }),
    ])
    const namespace = live && toNamespace(live)
    const version = live?.metadata.resourceVersion
    const members = bindings.flatMap(one => toMember(one) ?? [])
    return namespace && { namespace, members, ...(version !== undefined && { version }) }
  }

  /** Returns the limits of a namespace's ResourceQuotas, and the usage of each. */
  async limits(name: string): Promise<readonly Limit[]> {
    const quotas = await this.#world.cluster.list({ apiVersion: 'v1', kind: 'ResourceQuota', namespace: name })
    return limitsOf(quotas.map(({ status }) => (status ?? {}) as QuotaStatus)) // What the API server keeps there.
  }

  /**
   * Creates a namespace for a user. Throws a PlatformError if the namespace already exists, if the user has too many
   * namespaces, or if the name is the name of a personal namespace, which may be missing for a moment while it is
   * emptied.
   */
  create(
    owner: PlatformUser,
    name: string,
    kind: NamespaceKind,
    more: Pick<ManagedNamespace, 'isGlobal' | 'preview' | 'isUntrusted' | 'expires'> = {},
  ): Promise<SharedNamespace> {
    return this.#making.run(owner.id, () => this.#create({ owner, name, kind }, more))
  }

  async #create(
    wanted: WantedNamespace,
    more: Pick<ManagedNamespace, 'isGlobal' | 'preview'>,
  ): Promise<SharedNamespace> {
    const { cluster, settings } = this.#world
    const { users, hooks, pullSecrets, longerNames } = this.#parts
    const { owner, name, kind } = wanted
    const problem = namespaceNameProblem(name)
    if (problem) throw new PlatformError(400, 'name', `a namespace cannot be called \`${name}\`: ${problem}`)
    const [all, people] = await Promise.all([listNamespaces(cluster), users.all()])
    const names = all.map(one => one.name)
    await requireFree(wanted, { all, users: people, hooks }, settings)
    if (names.includes(name)) throw isTaken(name)
    requireRoom(wanted, all, settings)
    // While a personal namespace is emptied, only its owner can use its name, and only for a personal namespace.
    if (people.some(user => user.home === name && !(kind === 'personal' && user.id === owner.id))) throw isTaken(name)
    const time = rfc3339(this.#world.now())
    const namespace: ManagedNamespace = {
      name,
      kind,
      status: 'Active',
      owner: owner.id,
      created: time,
      lastActive: time,
      longerNames: longerNamesOf(name, names),
      ...more,
    }
    // Reserves the hosts before the namespace exists, so that other namespaces cannot take them (design, section 5).
    await longerNames.reserve(name, all)
    const { uid } = await this.#createNew(namespace)
    try {
      const since = await listNamespaces(cluster)
      // Other replicas may have created namespaces at the same time.
      requireRoom(wanted, since, settings)
      await longerNames.meet(namespace, since)
      await this.#fill({ ...namespace, ...(uid !== undefined && { uid }) })
      // Pods get their pull credentials when they are created, so these have to exist before the first Pod.
      if (uid !== undefined) await pullSecrets.begin({ name, uid })
    } catch (error) {
      // A partially created namespace would have no limits.
      await this.remove({ name, uid }).catch(() => {})
      throw error
    }
    return {
      namespace: { ...namespace, ...(uid !== undefined && { uid }) },
      members: more.isGlobal ? [] : [{ namespace: name, user: owner.id, role: 'owner' }],
    }
  }

  /**
   * Deletes a namespace and everything in it, if the namespace still has the given UID, without running the commands of
   * its deploys.
   */
  async remove({ name, uid }: { readonly name: string; readonly uid?: string | undefined }, signal?: AbortSignal) {
    await this.#world.cluster.delete({ apiVersion: 'v1', kind: 'Namespace', name }, { uid, signal })
  }

  /**
   * Records that a namespace is to be deleted, or the progress of its deletion. If a version is given, throws
   * `conflict` if the Namespace has another version by now.
   */
  async noteDeletion(
    namespace: NamespaceRef,
    status: 'Deleting' | 'DeleteFailed',
    deletion: Deletion,
    version?: string,
  ): Promise<void> {
    const metadata = { labels: { [STATUS]: status }, annotations: { [DELETION]: fromDeletion(deletion) } }
    await patchNamespace(this.#world.cluster, namespace, {
      ...metadata,
      ...(version !== undefined && { resourceVersion: version }),
    })
  }

  /**
   * Updates the source, the time of the last activity and, if given, the expiry time of a preview that is deployed
   * again, perhaps from another branch.
   */
  async renew({ namespace }: SharedNamespace, preview: PreviewSource, expires?: string): Promise<void> {
    const annotations = {
      ...fromPreview(preview),
      [LAST_ACTIVE]: rfc3339(this.#world.now()),
      ...(expires !== undefined && { [EXPIRES]: expires }),
    }
    await patchNamespace(this.#world.cluster, namespace, { annotations })
  }

  /** Records that a user works in a namespace now, unless this was recorded a moment ago. */
  async noteWork(namespace: Pick<ManagedNamespace, 'name' | 'uid' | 'lastActive'>): Promise<void> {
    const time = this.#world.now()
    if (time - Date.parse(namespace.lastActive) < NOTED) return
    await patchNamespace(this.#world.cluster, namespace, { annotations: { [LAST_ACTIVE]: rfc3339(time) } })
  }

  async setPersistent({ namespace }: SharedNamespace, isPersistent: boolean): Promise<void> {
    const annotations = { [PERSISTENT]: isPersistent ? 'true' : null }
    await patchNamespace(this.#world.cluster, namespace, { annotations })
  }

  async #createNew(namespace: ManagedNamespace): Promise<KubeObject['metadata']> {
    try {
      return (await this.#world.cluster.create(fromNamespace(namespace))).metadata
    } catch (error) {
      if (!(error instanceof ClusterError) || error.failure !== 'exists') throw error
      throw isTaken(namespace.name)
    }
  }

  async #fill(namespace: ManagedNamespace): Promise<void> {
    const { cluster, settings } = this.#world
    const { name, isGlobal, owner } = namespace
    for (const object of namespaceDefaults(name, settings))
      await cluster.apply(object, { manager: MANAGER, force: true })
    // Only runs deploy to a global namespace, so no user gets a RoleBinding other than the one for viewing.
    if (isGlobal) await cluster.apply(everybodysBinding(name), { manager: MANAGER, force: true })
    else await this.#parts.members.bind(namespace, { namespace: name, user: owner, role: 'owner' })
  }
}
