import { ClusterError } from '../../../adapters/kubernetes/cluster.ts'
import { bindingName, fromMember, type Member, toMember } from '../../records/member.ts'
import { MANAGER, RECORD_LABEL } from '../../records/names.ts'
import { type ManagedNamespace, OWNER, PULL_LOGINS, toNamespace } from '../../records/namespace.ts'
import type { PlatformUser } from '../../records/user.ts'
import type { NamespaceRole } from '../../rules/accounts/roles.ts'
import type { ServerContext } from '../context.ts'
import { noNamespace, PlatformError } from '../http/platform-error.ts'
import type { PullSecrets } from '../registry/pull-secrets.ts'
import { EmptiedNamespaces } from './emptied-namespaces.ts'
import { patchNamespace } from './namespace-store.ts'
import { type NamespaceRef, requireStaying, type SharedNamespace } from './shared-namespace.ts'

/** Length in bytes of the random id that valid pull credentials contain. */
const PULL_LOGINS_ID = 8
const RBAC = 'rbac.authorization.k8s.io/v1'

/** Grants and revokes users' rights in namespaces. */
export class Members {
  readonly #world: ServerContext
  readonly #pullSecrets: PullSecrets
  readonly #emptied: EmptiedNamespaces

  constructor(world: ServerContext, pullSecrets: PullSecrets) {
    this.#world = world
    this.#pullSecrets = pullSecrets
    this.#emptied = new EmptiedNamespaces(world)
  }

  async share({ namespace }: SharedNamespace, user: PlatformUser, role: NamespaceRole): Promise<void> {
    requireOwn(namespace)
    if (namespace.owner === user.id) throw new PlatformError(409, 'owner', `\`${user.login}\` is the owner`)
    if (role === 'owner') throw new PlatformError(409, 'owner', 'a namespace has one owner', { hint: 'transfer it' })
    await this.#setRole(namespace, user.id, role).catch(error => {
      // Objects cannot be created in a namespace that is being deleted.
      if (namespace.status === 'Deleting') requireStaying(namespace)
      throw error
    })
  }

  async unshare({ namespace }: SharedNamespace, user: string): Promise<void> {
    if (namespace.owner === user) throw new PlatformError(409, 'owner', 'the owner cannot be removed')
    await this.#setRole(namespace, user, undefined)
    const { name, uid } = namespace
    if (!this.#pullSecrets.isUsed || uid === undefined) return
    // The former member may have kept the pull credentials of Pods, so they are revoked. If this update fails, the
    // leader repeats it.
    const annotations = { [PULL_LOGINS]: this.#world.random(PULL_LOGINS_ID).toString('hex') }
    await patchNamespace(this.#world.cluster, namespace, { annotations })
    await this.#pullSecrets.renew({ name, uid }).catch(error => {
      // Objects cannot be created in a namespace that is being deleted, and no Pod starts in it.
      if (namespace.status !== 'Deleting') throw error
    })
  }

  /**
   * Sets the only role of a user; undefined removes all roles. While a personal namespace is being emptied, its members
   * are saved in a record and restored later, so the role is changed in the record as well. The leader may restore the
   * members at the same time, so after a change of the record the RoleBindings are written a second time.
   */
  async #setRole(namespace: ManagedNamespace, user: string, role: NamespaceRole | undefined): Promise<void> {
    const noteRole = async () => namespace.kind === 'personal' && (await this.#emptied.noteRole(namespace, user, role))
    await noteRole()
    do await this.#bindOnly(namespace, user, role)
    while (await noteRole())
  }

  async #bindOnly(namespace: ManagedNamespace, user: string, role: NamespaceRole | undefined): Promise<void> {
    const { cluster } = this.#world
    const { name, uid } = namespace
    const member = role && { namespace: name, user, role }
    if (member) await this.bind(namespace, member)
    const query = { apiVersion: RBAC, kind: 'RoleBinding', namespace: name, labels: `${RECORD_LABEL}=member` }
    const bound = (await cluster.list(query)).flatMap(one => toMember(one) ?? [])
    const live = await cluster.get({ apiVersion: 'v1', kind: 'Namespace', name })
    // If the UID differs, these are RoleBindings of a later namespace of the same name.
    if (uid !== undefined && live?.metadata.uid !== uid) throw noNamespace(name)
    const others = bound.filter(one => one.user === user && (!member || bindingName(one) !== bindingName(member)))
    await Promise.all(others.map(one => this.unbind(one)))
  }

  /** Makes another user the owner. The previous owner becomes a developer. */
  async transfer({ namespace, members }: SharedNamespace, to: PlatformUser): Promise<void> {
    requireOwn(namespace)
    const { name, owner } = namespace
    await this.bind(namespace, { namespace: name, user: to.id, role: 'owner' })
    await patchNamespace(this.#world.cluster, namespace, { annotations: { [OWNER]: to.id } })
    const before = members.find(one => one.user === owner)
    if (before && owner !== to.id) await this.bind(namespace, { ...before, role: 'developer' })
    await Promise.all(members.filter(one => one.user === to.id && one.role === 'viewer').map(one => this.unbind(one)))
  }

  /**
   * Gives a user rights in a namespace. A RoleBinding refers to its namespace only by name, so it can be created in a
   * later namespace of the same name. In this case, deletes the RoleBinding unless the user owns the later namespace,
   * and throws a PlatformError.
   */
  async bind({ name, uid }: NamespaceRef, member: Member): Promise<void> {
    const { cluster } = this.#world
    const written = await cluster.apply(fromMember(member), { manager: MANAGER, force: true })
    const live = uid === undefined ? undefined : await cluster.get({ apiVersion: 'v1', kind: 'Namespace', name })
    if (uid === undefined || live?.metadata.uid === uid) return
    const isOwn = live && toNamespace(live)?.owner === member.user
    if (!isOwn) await this.unbind({ ...member, uid: written.metadata.uid })
    throw noNamespace(name)
  }

  /**
   * Deletes a RoleBinding if its UID is still the one that was read. A RoleBinding with another UID was created later,
   * perhaps in a later namespace of the same name.
   */
  async unbind(member: Member & { readonly uid?: string | undefined }): Promise<void> {
    const { namespace, uid } = member
    const ref = { apiVersion: RBAC, kind: 'RoleBinding', name: bindingName(member), namespace }
    await this.#world.cluster.delete(ref, { uid }).catch(error => {
      if (!(error instanceof ClusterError) || error.failure !== 'conflict') throw error
    })
  }
}

/** Throws a PlatformError for a global preview. A RoleBinding in it would give rights that the platform refuses. */
function requireOwn({ name, isGlobal }: ManagedNamespace): void {
  if (isGlobal)
    throw new PlatformError(409, 'owner', `\`${name}\` is a global preview: everybody may see it`, {
      hint: 'only administrators deploy and destroy it',
    })
}
