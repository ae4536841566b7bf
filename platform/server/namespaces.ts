import { ClusterError, type KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { unlessForbidden } from '../../operations/objects/forbidden.ts'
import { DELETION, type Deletion, fromDeletion } from '../records/deletion.ts'
import { bindingName, everybodysBinding, fromMember, type Member, toMember } from '../records/member.ts'
import { MANAGED_LABEL, MANAGER, RECORD_LABEL, rfc3339 } from '../records/names.ts'
import {
  EXPIRES,
  fromNamespace,
  LAST_ACTIVE,
  LONGER_NAMES,
  type ManagedNamespace,
  type NamespaceKind,
  OWNER,
  PERSISTENT,
  PULL_LOGINS,
  STATUS,
  toNamespace,
} from '../records/namespace.ts'
import { fromPreview, type PreviewSource } from '../records/preview.ts'
import type { PlatformUser } from '../records/user.ts'
import { isJobs, keptPrefix } from '../rules/ci-trust.ts'
import { longerNames, ownerOfHost, shorterNames } from '../rules/hosts.ts'
import { namespaceNameProblem, personalNamespace } from '../rules/names.ts'
import { mayDo, type NamespaceAction, type NamespaceRole } from '../rules/roles.ts'
import { type KnownHooks, requireForThem, requireOwnPull } from './kept-names.ts'
import { surroundings } from './namespace-objects.ts'
import { OneAtATime } from './one-at-a-time.ts'
import { noNamespace, onlyFor, PlatformError } from './platform-error.ts'
import type { PullSecrets } from './registry/pull-secrets.ts'
import { routeHosts } from './route-hosts.ts'
import type { Users } from './users.ts'
import type { PlatformWorld } from './world.ts'

/** Attempts to update an object that others update, too. */
const CONFLICTS = 10
/** Random bytes of the id that valid logins of Pods carry. */
const PULL_LOGINS_ID = 8
const RBAC = 'rbac.authorization.k8s.io/v1'

/** A namespace and its members. */
export interface SharedNamespace {
  readonly namespace: ManagedNamespace
  readonly members: readonly Member[]
}

/** The namespaces of the platform, with the objects that each of them always has. */
export class Namespaces {
  readonly #world: PlatformWorld
  readonly #users: Users
  readonly #pullSecrets: PullSecrets
  readonly #hooks: KnownHooks
  /** By owner: of several concurrent creations by one person, each counts those before it. */
  readonly #making = new OneAtATime()

  constructor(world: PlatformWorld, users: Users, pullSecrets: PullSecrets, hooks: KnownHooks) {
    this.#world = world
    this.#users = users
    this.#pullSecrets = pullSecrets
    this.#hooks = hooks
  }

  /**
   * The namespaces that somebody may see: their own, those that they are members of, and global ones; all for
   * administrators.
   */
  async visible(user: PlatformUser): Promise<readonly SharedNamespace[]> {
    const { cluster } = this.#world
    const [namespaces, bindings] = await Promise.all([
      this.#all(),
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
      .filter(one => this.may(user, one, 'see'))
  }

  /** A namespace, if the user may do this in it. Throws a PlatformError. */
  async require(user: PlatformUser, name: string, action: NamespaceAction, what: string): Promise<SharedNamespace> {
    const found = await this.find(name)
    if (!found || !this.may(user, found, 'see')) throw noNamespace(name)
    if (this.may(user, found, action)) return found
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
    return namespace && { namespace, members: bindings.flatMap(one => toMember(one) ?? []) }
  }

  roleOf(user: PlatformUser, { namespace, members }: SharedNamespace): NamespaceRole | undefined {
    // A global namespace belongs to the current administrators, and everybody can see it.
    if (namespace.isGlobal) return user.role === 'admin' ? 'owner' : 'viewer'
    if (namespace.owner === user.id) return 'owner'
    return members.find(one => one.user === user.id)?.role
  }

  /**
   * Creates a namespace for somebody. Throws a PlatformError if it exists, if they have too many, or if the name is
   * that of a personal namespace, which may be missing for a moment.
   */
  create(
    owner: PlatformUser,
    name: string,
    kind: NamespaceKind,
    more: Pick<ManagedNamespace, 'isGlobal' | 'preview' | 'isUntrusted' | 'expires'> = {},
  ): Promise<SharedNamespace> {
    return this.#making.run(owner.id, () => this.#create(owner, name, kind, more))
  }

  async #create(
    owner: PlatformUser,
    name: string,
    kind: NamespaceKind,
    more: Pick<ManagedNamespace, 'isGlobal' | 'preview'>,
  ): Promise<SharedNamespace> {
    const problem = namespaceNameProblem(name)
    if (problem) throw new PlatformError(400, 'name', `a namespace cannot be called \`${name}\`: ${problem}`)
    const [all, users] = await Promise.all([this.#all(), this.#users.all()])
    const names = all.map(one => one.name)
    await this.#requireFree(owner, name, kind, all, users)
    if (names.includes(name)) throw isTaken(name)
    this.#requireRoom(owner, kind, all)
    // While a personal namespace is emptied, its name is reserved: for its owner, and for a personal namespace only.
    if (users.some(user => user.home === name && !(kind === 'personal' && user.id === owner.id))) throw isTaken(name)
    const time = rfc3339(this.#world.now())
    const namespace: ManagedNamespace = {
      name,
      kind,
      status: 'Active',
      owner: owner.id,
      created: time,
      lastActive: time,
      longerNames: longerNames(name, names),
      ...more,
    }
    // Before the namespace exists, other namespaces must not be able to take its hosts (design, section 5).
    for (const shorter of shorterNames(name, names))
      await this.#claimHosts(all.find(one => one.name === shorter)!, name)
    const { uid } = await this.#createNew(namespace)
    try {
      const now = await this.#all()
      // Other replicas may have created some at the same time.
      this.#requireRoom(owner, kind, now, name)
      await this.#meet(namespace, now)
      await this.#fill({ ...namespace, ...(uid !== undefined && { uid }) })
      // Before the first Pod, which gets its pull credentials when it is created.
      if (uid !== undefined) await this.#pullSecrets.begin({ name, uid })
    } catch (error) {
      // A namespace that was created halfway would have no limits.
      await this.remove({ name, uid }).catch(() => {})
      throw error
    }
    return {
      namespace: { ...namespace, ...(uid !== undefined && { uid }) },
      members: more.isGlobal ? [] : [{ namespace: name, user: owner.id, role: 'owner' }],
    }
  }

  /**
   * Throws a PlatformError for a name that is reserved for others, or that already exists when a job wants it. The
   * names of personal namespaces are not chosen, so they are not checked.
   */
  async #requireFree(
    owner: PlatformUser,
    name: string,
    kind: NamespaceKind,
    all: readonly ManagedNamespace[],
    users: readonly PlatformUser[],
  ): Promise<void> {
    if (kind === 'personal') return
    const { settings } = this.#world
    const hint = `choose another name: \`devctl ${kind === 'preview' ? 'preview deploy' : 'namespace create'} NAME\``
    const prefix = requireForThem(settings, owner, name, hint)
    await requireOwnPull(this.#hooks, owner, name, hint)
    const there = all.find(one => one.name === name)
    if (prefix === undefined || !there || !isJobs(owner, settings.ci)) return
    const login = users.find(({ id }) => id === there.owner)?.login ?? 'a deleted user'
    throw new PlatformError(409, 'exists', `\`${name}\` belongs to ${login}, not to ${owner.login}`, {
      hint: `an administrator deletes it (\`devctl namespace delete ${name}\`), or choose another name`,
    })
  }

  /**
   * Throws a PlatformError if somebody already owns as many as they may, not counting one. A namespace that is being
   * deleted counts until it is gone.
   */
  #requireRoom(owner: PlatformUser, kind: NamespaceKind, all: readonly ManagedNamespace[], besides?: string): void {
    const { namespacesPerUser, previewsPerUser } = this.#world.settings
    const most = { namespace: namespacesPerUser, preview: previewsPerUser, personal: undefined }[kind]
    if (most === undefined || owner.role === 'admin') return
    const own = all.filter(one => one.owner === owner.id && one.kind === kind && one.name !== besides)
    if (own.length < most) return
    const words = ({ name, status }: ManagedNamespace) =>
      `\`${name}\`${status === 'Deleting' ? ' (until it is deleted)' : ''}`
    throw new PlatformError(409, 'quota', `you have ${own.length} ${kind}s, which is the limit`, {
      hint: `\`devctl ${kind} ${kind === 'preview' ? 'destroy' : 'delete'} NAME\` deletes one`,
      notes: [`yours: ${own.map(words).join(', ')}`],
    })
  }

  /** Creates somebody's personal namespace at their first login. Returns the user with its name. */
  async home(user: PlatformUser): Promise<PlatformUser> {
    if (user.home !== undefined && (await this.#isHome(user, user.home)) === true) return user
    const taken = new Set<string>()
    for (let attempt = 0; attempt < 20; attempt++) {
      const { ci } = this.#world.settings
      const name = personalNamespace(
        user.login,
        user.id,
        one => taken.has(one),
        one => keptPrefix(one, ci) !== undefined,
      )
      try {
        await this.create(user, name, 'personal')
        return await this.#users.change(user.id, { home: name })
      } catch (error) {
        if (!(error instanceof PlatformError) || error.body.code !== 'platform/exists') throw error
        taken.add(name)
      }
    }
    throw new PlatformError(409, 'exists', `no name is free for a namespace of \`${user.login}\``)
  }

  /** What somebody may be told about their personal namespace: not the name of one that no longer belongs to them. */
  async withOwnHome({ home, ...user }: PlatformUser): Promise<PlatformUser> {
    if (home === undefined || (await this.#isHome(user, home)) === false) return user
    return { ...user, home }
  }

  /** Undefined if there is none of this name, as while it is emptied. */
  async #isHome({ id }: PlatformUser, name: string): Promise<boolean | undefined> {
    const live = await this.#world.cluster.get({ apiVersion: 'v1', kind: 'Namespace', name })
    if (!live) return undefined
    const found = toNamespace(live)
    return found?.kind === 'personal' && found.owner === id
  }

  async share({ namespace, members }: SharedNamespace, user: PlatformUser, role: NamespaceRole): Promise<void> {
    if (namespace.owner === user.id) throw new PlatformError(409, 'owner', `\`${user.login}\` is the owner`)
    if (role === 'owner') throw new PlatformError(409, 'owner', 'a namespace has one owner', { hint: 'transfer it' })
    const member = { namespace: namespace.name, user: user.id, role }
    await this.#bind(namespace, member)
    // Their earlier membership, under another name.
    const others = members.filter(one => one.user === user.id && bindingName(one) !== bindingName(member))
    await Promise.all(others.map(one => this.#unbind(one)))
  }

  async unshare({ namespace, members }: SharedNamespace, user: string): Promise<void> {
    if (namespace.owner === user) throw new PlatformError(409, 'owner', 'the owner cannot be removed')
    await Promise.all(members.filter(one => one.user === user).map(one => this.#unbind(one)))
    const { name, uid } = namespace
    if (!this.#pullSecrets.isUsed || uid === undefined) return
    // They may have kept a login of Pods, so those become invalid. If this update fails, the leader repeats it.
    await this.#patch(namespace, { annotations: { [PULL_LOGINS]: this.#world.random(PULL_LOGINS_ID).toString('hex') } })
    await this.#pullSecrets.renew({ name, uid })
  }

  /** Deletes this version of a namespace, with everything in it, without running the commands of its deploys. */
  async remove({ name, uid }: { readonly name: string; readonly uid?: string | undefined }, signal?: AbortSignal) {
    await this.#world.cluster.delete({ apiVersion: 'v1', kind: 'Namespace', name }, { uid, signal })
  }

  /** Records that a namespace is to be deleted, or the progress of that. */
  async noteDeletion(namespace: NamespaceRef, status: 'Deleting' | 'DeleteFailed', deletion: Deletion): Promise<void> {
    await this.#patch(namespace, { labels: { [STATUS]: status }, annotations: { [DELETION]: fromDeletion(deletion) } })
  }

  /** A preview is deployed again, perhaps from another branch. */
  async renew({ namespace }: SharedNamespace, preview: PreviewSource, expires?: string): Promise<void> {
    const annotations = {
      ...fromPreview(preview),
      [LAST_ACTIVE]: rfc3339(this.#world.now()),
      ...(expires !== undefined && { [EXPIRES]: expires }),
    }
    await this.#patch(namespace, { annotations })
  }

  async setPersistent({ namespace }: SharedNamespace, isPersistent: boolean): Promise<void> {
    const annotations = { [PERSISTENT]: isPersistent ? 'true' : null }
    await this.#patch(namespace, { annotations })
  }

  /** Stops reserving hosts for namespaces that no longer exist. */
  async forgetLonger(name: string, gone: ReadonlySet<string>): Promise<void> {
    await this.#changeLonger(name, names => names.filter(one => !gone.has(one)))
    // A namespace that was created later has checked the hosts before.
    const there = (await this.#all()).flatMap(one => (gone.has(one.name) ? one.name : []))
    if (there.length > 0) await this.#changeLonger(name, names => [...names, ...there])
  }

  /** Makes somebody else the owner; the previous owner stays a developer. */
  async transfer({ namespace, members }: SharedNamespace, to: PlatformUser): Promise<void> {
    const { name, owner } = namespace
    await this.#bind(namespace, { namespace: name, user: to.id, role: 'owner' })
    await this.#patch(namespace, { annotations: { [OWNER]: to.id } })
    const before = members.find(one => one.user === owner)
    if (before && owner !== to.id) await this.#bind(namespace, { ...before, role: 'developer' })
    await Promise.all(members.filter(one => one.user === to.id && one.role === 'viewer').map(one => this.#unbind(one)))
  }

  /** Whether somebody may do this in a namespace. */
  may(user: PlatformUser, shared: SharedNamespace, action: NamespaceAction): boolean {
    return mayDo({ platform: user.role, namespace: this.roleOf(user, shared) }, action)
  }

  async #all(): Promise<readonly ManagedNamespace[]> {
    const found = await this.#world.cluster.list({
      apiVersion: 'v1',
      kind: 'Namespace',
      labels: `${MANAGED_LABEL}=true`,
    })
    return found.flatMap(one => toNamespace(one) ?? [])
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
    for (const object of surroundings(name, settings.clusterNetworks, settings.quota))
      await cluster.apply(object, { manager: MANAGER, force: true })
    // A global namespace is changed by runs only.
    if (isGlobal) await cluster.apply(everybodysBinding(name), { manager: MANAGER, force: true })
    else await this.#bind(namespace, { namespace: name, user: owner, role: 'owner' })
  }

  /** Reserves hosts for a namespace that is about to be created. Throws a PlatformError if one of them is in use. */
  async #claimHosts(shorter: ManagedNamespace, longer: string): Promise<void> {
    await this.#changeLonger(shorter.name, names => [...names, longer])
    if (shorter.longerNames.includes(longer)) return
    const taken = await unlessForbidden(this.#hostOf(longer, shorter.name), undefined)
    if (taken === undefined) return
    await this.#changeLonger(shorter.name, names => names.filter(one => one !== longer))
    throw new PlatformError(409, 'exists', `the host \`${taken}\` is in use, and would belong to \`${longer}\``, {
      hint: 'choose another name',
    })
  }

  /** A host of the new namespace that an existing one already uses. */
  async #hostOf(namespace: string, inNamespace: string): Promise<string | undefined> {
    const { cluster, settings } = this.#world
    for await (const host of routeHosts(cluster, inNamespace))
      if (ownerOfHost(host, settings.domain, [namespace]) === namespace) return host
    return undefined
  }

  /** Changes the longer names for which a namespace reserves hosts, without losing concurrent changes. */
  async #changeLonger(name: string, change: (names: readonly string[]) => readonly string[]): Promise<void> {
    const ref = { apiVersion: 'v1', kind: 'Namespace', name }
    for (let attempt = 1; ; attempt++) {
      const live = await this.#world.cluster.get(ref)
      const before = live && toNamespace(live)?.longerNames
      if (!before) return
      const wanted = [...new Set(change(before))].sort().join(',')
      if (wanted === before.join(',')) return
      const { resourceVersion } = live.metadata
      const patch = { metadata: { resourceVersion, annotations: { [LONGER_NAMES]: wanted } } }
      try {
        await this.#world.cluster.patch(ref, patch, { manager: MANAGER })
        return
      } catch (error) {
        if (!(error instanceof ClusterError) || error.failure !== 'conflict' || attempt >= CONFLICTS) throw error
      }
    }
  }

  /** Namespaces that were created at the same moment did not see each other. */
  async #meet({ name, longerNames: known }: ManagedNamespace, all: readonly ManagedNamespace[]): Promise<void> {
    const names = all.map(one => one.name)
    const longer = longerNames(name, names)
    if (longer.some(one => !known.includes(one))) await this.#changeLonger(name, before => [...before, ...longer])
    // Checked again: the reservation may have been dropped in the meantime, as if for a deleted namespace, and one of
    // the hosts taken.
    for (const shorter of shorterNames(name, names))
      await this.#claimHosts(all.find(one => one.name === shorter)!, name)
  }

  /**
   * Changes this namespace, and not a later one of the same name, which belongs to somebody else. Throws a
   * PlatformError in that case.
   */
  async #patch({ name, uid }: NamespaceRef, metadata: object): Promise<void> {
    const ref = { apiVersion: 'v1', kind: 'Namespace', name }
    const patch = { metadata: { ...metadata, ...(uid !== undefined && { uid }) } }
    try {
      await this.#world.cluster.patch(ref, patch, { manager: MANAGER })
    } catch (error) {
      // A wrong uid is a conflict, or the change of an immutable field.
      if (!(error instanceof ClusterError) || !['conflict', 'invalid', 'not-found'].includes(error.failure)) throw error
      if (uid !== undefined && (await this.#world.cluster.get(ref))?.metadata.uid === uid) throw error
      throw noNamespace(name)
    }
  }

  /**
   * Gives somebody rights in this namespace. A RoleBinding refers to its namespace by name only; if it was created in a
   * later namespace of the same name, it is deleted again, and a PlatformError is thrown.
   */
  async #bind({ name, uid }: NamespaceRef, member: Member): Promise<void> {
    const { cluster } = this.#world
    const written = await cluster.apply(fromMember(member), { manager: MANAGER, force: true })
    const live = uid === undefined ? undefined : await cluster.get({ apiVersion: 'v1', kind: 'Namespace', name })
    if (uid === undefined || live?.metadata.uid === uid) return
    const isOwn = live && toNamespace(live)?.owner === member.user
    if (!isOwn) await this.#unbind({ ...member, uid: written.metadata.uid })
    throw noNamespace(name)
  }

  /** Deletes this binding only: one that was created after it was read belongs to another namespace, or is newer. */
  async #unbind(member: Member & { readonly uid?: string | undefined }): Promise<void> {
    const { namespace, uid } = member
    const ref = { apiVersion: RBAC, kind: 'RoleBinding', name: bindingName(member), namespace }
    await this.#world.cluster.delete(ref, { uid }).catch(error => {
      if (!(error instanceof ClusterError) || error.failure !== 'conflict') throw error
    })
  }
}

/** A precondition for the namespace as it was read: a later one of the same name has another uid. */
export type NamespaceRef = Pick<ManagedNamespace, 'name' | 'uid'>

const isTaken = (name: string) =>
  new PlatformError(409, 'exists', `namespace \`${name}\` is taken`, { hint: 'choose another name' })

/** Throws a PlatformError if a namespace is being deleted: nothing new may begin in it. */
export function requireStaying({ name, status }: ManagedNamespace): void {
  if (status !== 'Deleting' && status !== 'DeleteFailed') return
  throw new PlatformError(409, 'deleting', `namespace \`${name}\` is being deleted`, {
    ...(status === 'DeleteFailed' && { hint: `\`devctl namespace delete ${name}\` tries again` }),
  })
}
