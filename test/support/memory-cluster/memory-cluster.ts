import { unlessAborted } from '../../../adapters/http/abort.ts'
import {
  type ApplyOptions,
  type CallOptions,
  type Change,
  type Cluster,
  ClusterError,
  type DeleteOptions,
  type KnownKinds,
  type KubeObject,
  type LogOptions,
  type ManagedFields,
  type ObjectQuery,
  type ObjectRef,
  type PatchOptions,
  type Resource,
} from '../../../adapters/kubernetes/cluster.ts'
import { withDefaults } from './defaults.ts'
import { type Record_, textOf } from './fields.ts'
import { KINDS, type Kind } from './kinds.ts'
import {
  applied,
  fromManagedFields,
  type Managed,
  type Manager,
  toManagedFields,
  updated,
  type Writer,
} from './managers.ts'
import { mergePatched } from './merge.ts'
import { PodLogs } from './pod-logs.ts'
import {
  exists,
  forbidden,
  notFound,
  outdated,
  requireUid,
  requireVersion,
  validate,
  validateChange,
} from './refusals.ts'
import { parseSelector } from './selector.ts'
import { type Filter, Watcher } from './watchers.ts'

/** A request to the cluster, with the verb as RBAC names it: `patch` is server-side apply. */
export interface Call {
  readonly verb: 'get' | 'list' | 'patch' | 'create' | 'update' | 'delete' | 'watch' | 'logs'
  readonly kind: string
  readonly name?: string
  readonly namespace?: string | undefined
  readonly dryRun?: boolean
}

export interface MemoryClusterOptions {
  readonly name?: string
  /** Namespace of the context; it exists. Default: `default`. */
  readonly namespace?: string
  /** Names of more existing namespaces. */
  readonly namespaces?: readonly string[]
  /** Milliseconds; default the clock. */
  readonly now?: () => number
}

interface Stored extends Managed {
  readonly kind: Kind
  readonly object: KubeObject & Record_
}

/**
 * A cluster in memory, for tests: an API server with its garbage collector, and nothing else. No controller works in
 * it: what one would do, a test does with `act`. What it shares with a real one is in test/support/cluster-contract.ts.
 */
export class MemoryCluster implements Cluster {
  readonly name: string
  readonly namespace: string
  /** Everything that was asked, in order. */
  readonly calls: Call[] = []
  /** Called before each call, and waited for; throws what the call is to throw. */
  before: (call: Call) => void | Promise<void> = () => {}
  /** Returns true if the user may make the call; a denied call fails with `forbidden`. */
  allows: (call: Call) => boolean = () => true
  readonly logBook: PodLogs
  readonly #kinds = new Map<string, Kind>()
  readonly #objects = new Map<string, Stored>()
  readonly #watchers = new Set<Watcher>()
  /** The deletions that wait for other objects to go. */
  readonly #waiting = new Set<() => void>()
  readonly #now: () => number
  #version = 1
  #addresses = 1

  constructor({ name = 'memory', namespace = 'default', namespaces = [], now = Date.now }: MemoryClusterOptions = {}) {
    this.name = name
    this.namespace = namespace
    this.#now = now
    this.logBook = new PodLogs(now)
    for (const kind of KINDS) this.register(kind)
    for (const one of new Set([namespace, ...namespaces]))
      this.#create(
        { apiVersion: 'v1', kind: 'Namespace', metadata: { name: one } },
        this.#writer('test', 'Update', { apiVersion: 'v1' }),
        false,
      )
  }

  /** Makes a kind known, as a CustomResourceDefinition does. */
  register(kind: Kind): void {
    this.#kinds.set(`${kind.apiVersion} ${kind.kind}`, kind)
  }

  /** Makes a kind unknown. Its objects still exist, but no call finds them. */
  unregister({ apiVersion, kind }: Pick<Kind, 'apiVersion' | 'kind'>): void {
    this.#kinds.delete(`${apiVersion} ${kind}`)
  }

  /**
   * Changes an object as a controller or a person does: no other manager's fields cause a conflict. Throws `not-found`.
   */
  act(ref: ObjectRef, change: (object: KubeObject) => KubeObject, manager = 'controller'): KubeObject {
    const kind = this.#kindOf(ref)
    const stored = this.#objects.get(keyOf(kind, ref.namespace, ref.name))
    if (!stored) throw notFound(kind, ref.name)
    return this.#update(stored, change(shown(stored)), this.#writer(manager, 'Update', ref), false)
  }

  /** Lets all watches begin anew, as when the API server has forgotten the state they were at. */
  restartWatches(): void {
    for (const watcher of this.#watchers) watcher.restart(this.#all())
  }

  async resource(apiVersion: string, kind: string, { signal }: CallOptions = {}): Promise<Resource | undefined> {
    signal?.throwIfAborted()
    const known = this.#kinds.get(`${apiVersion} ${kind}`)
    return known && { name: known.name, namespaced: known.namespaced }
  }

  async kinds({ signal }: CallOptions = {}): Promise<KnownKinds> {
    signal?.throwIfAborted()
    const all = [...this.#kinds.values()]
    const kinds = all.map(({ apiVersion, kind, name, namespaced }) => ({ apiVersion, kind, name, namespaced }))
    return { kinds, unavailable: [] }
  }

  async get(ref: ObjectRef, options: CallOptions = {}): Promise<KubeObject | undefined> {
    const kind = await this.resource(ref.apiVersion, ref.kind, options)
    if (!kind) return undefined
    const key = this.#keyOf(ref)
    await this.#begin({ verb: 'get', ...ref }, options)
    const stored = this.#objects.get(key)
    return stored && shown(stored)
  }

  async list(query: ObjectQuery, options: CallOptions = {}): Promise<readonly KubeObject[]> {
    if (!(await this.resource(query.apiVersion, query.kind, options))) return []
    await this.#begin({ verb: 'list', ...query }, options)
    return this.#all().filter(this.#filter(query))
  }

  async *pages(query: ObjectQuery, options: CallOptions = {}): AsyncGenerator<readonly KubeObject[], void> {
    const all = await this.list(query, options)
    for (let at = 0; at < all.length; at += 2) yield all.slice(at, at + 2)
  }

  async apply(
    object: KubeObject,
    { manager, dryRun = false, force = false, ...options }: ApplyOptions,
  ): Promise<KubeObject> {
    const config = plain(object)
    const key = this.#keyOf(refOf(config))
    const kind = this.#kindOf(config)
    await this.#begin({ verb: 'patch', dryRun, ...refOf(config) }, options)
    validate(kind, config)
    const writer = this.#writer(manager, 'Apply', config)
    const stored = this.#objects.get(key)
    if (!stored) {
      if (config.metadata.resourceVersion !== undefined)
        throw outdated(kind, config.metadata.name, 'StorageError: invalid object')
      return this.#create(config, writer, dryRun)
    }
    requireVersion(kind, stored.object, config.metadata.resourceVersion)
    const { uid } = config.metadata
    if (uid !== undefined && uid !== stored.object.metadata.uid)
      throw outdated(kind, config.metadata.name, 'uid mismatch')
    const next = applied(stored, withoutStatus(kind, config), writer, kind.kind, force)
    return this.#store(stored, next, dryRun)
  }

  async create(object: KubeObject, options: CallOptions = {}): Promise<KubeObject> {
    const config = plain(object)
    const kind = this.#kindOf(config)
    const key = this.#keyOf(refOf(config))
    await this.#begin({ verb: 'create', ...refOf(config) }, options)
    validate(kind, config)
    if (this.#objects.has(key)) throw exists(kind, config.metadata.name)
    return this.#create(config, this.#writer('devctl', 'Update', config), false)
  }

  async replace(object: KubeObject, options: CallOptions = {}): Promise<KubeObject> {
    const config = plain(object)
    const kind = this.#kindOf(config)
    const key = this.#keyOf(refOf(config))
    await this.#begin({ verb: 'update', ...refOf(config) }, options)
    validate(kind, config)
    const stored = this.#objects.get(key)
    if (!stored) throw notFound(kind, config.metadata.name)
    requireVersion(kind, stored.object, config.metadata.resourceVersion)
    return this.#update(stored, config, this.#writer('devctl', 'Update', config), true)
  }

  async patch(
    ref: ObjectRef,
    patch: Readonly<Record<string, unknown>>,
    { manager, dryRun = false, ...options }: PatchOptions,
  ): Promise<KubeObject> {
    const key = this.#keyOf(ref)
    const kind = this.#kindOf(ref)
    await this.#begin({ verb: 'patch', dryRun, ...ref }, options)
    const stored = this.#objects.get(key)
    if (!stored) throw notFound(kind, ref.name)
    const config = withoutEmptyMaps(mergePatched(shown(stored), plain(patch)) as KubeObject) // a map over a map
    validate(kind, config)
    requireVersion(kind, stored.object, config.metadata.resourceVersion)
    requireUid(kind, stored.object, config.metadata.uid)
    const given = (patch['metadata'] as { managedFields?: readonly ManagedFields[] } | undefined)?.managedFields
    const owned = given ? { ...stored, managers: fromManagedFields(given) } : stored
    return this.#update(owned, config, this.#writer(manager, 'Update', ref), true, dryRun, stored)
  }

  async createIn(ref: ObjectRef): Promise<never> {
    throw new ClusterError('not-found', `${ref.kind} has no subresources here`)
  }

  async delete(ref: ObjectRef, options: DeleteOptions = {}): Promise<boolean> {
    if (!(await this.resource(ref.apiVersion, ref.kind, options))) return false
    const key = this.#keyOf(ref)
    await this.#begin({ verb: 'delete', ...ref }, options)
    const stored = this.#objects.get(key)
    if (!stored) return false
    const { uid, resourceVersion } = stored.object.metadata
    for (const [name, asked, live] of [
      ['UID', options.uid, uid],
      ['ResourceVersion', options.resourceVersion, resourceVersion],
    ])
      if (asked !== undefined && asked !== live)
        throw outdated(
          stored.kind,
          ref.name,
          `Precondition failed: ${name} in precondition: ${asked}, ${name} in object meta: ${live}`,
        )
    const { propagation = 'Background' } = options
    const marks = propagation === 'Foreground' ? ['foregroundDeletion'] : propagation === 'Orphan' ? ['orphan'] : []
    this.#delete(stored, marks)
    return true
  }

  async *watch(query: ObjectQuery, options: CallOptions): AsyncGenerator<Change> {
    options.signal?.throwIfAborted()
    this.#kindOf(query)
    await this.#begin({ verb: 'watch', ...query }, options)
    const watcher = new Watcher(this.#filter(query), this.#all())
    this.#watchers.add(watcher)
    try {
      yield* watcher.changes(options.signal)
    } finally {
      this.#watchers.delete(watcher)
    }
  }

  async *logs(pod: { readonly name: string; readonly namespace: string }, options: LogOptions): AsyncGenerator<string> {
    const ref = { apiVersion: 'v1', kind: 'Pod', ...pod }
    await this.#begin({ verb: 'logs', ...ref }, options)
    if (!this.#objects.has(this.#keyOf(ref))) throw notFound(this.#kindOf(ref), pod.name)
    yield* this.logBook.read(`${pod.namespace}/${pod.name}/${options.container}`, options)
  }

  async *logBytes(
    pod: { readonly name: string; readonly namespace: string },
    options: LogOptions,
  ): AsyncGenerator<Uint8Array> {
    for await (const line of this.logs(pod, options)) yield Buffer.from(`${line}\n`)
  }

  /** Notes a call, and does to it what the test wants done. */
  async #begin(call: Call & { readonly apiVersion: string }, { signal }: CallOptions): Promise<void> {
    signal?.throwIfAborted()
    const { verb, kind, name, namespace, dryRun } = call
    const noted: Call = { verb, kind, ...(name !== undefined && { name }), namespace, ...(dryRun && { dryRun }) }
    this.calls.push(noted)
    await unlessAborted(Promise.resolve(this.before(noted)), signal)
    if (!this.allows(noted)) throw forbidden(this.#kindOf(call), verb, name ?? '')
  }

  #kindOf({ apiVersion, kind }: Pick<ObjectQuery, 'apiVersion' | 'kind'>): Kind {
    const known = this.#kinds.get(`${apiVersion} ${kind}`)
    if (!known) throw new ClusterError('not-found', `the cluster has no kind \`${kind}\` of \`${apiVersion}\``)
    return known
  }

  #keyOf(ref: ObjectRef): string {
    const kind = this.#kindOf(ref)
    for (const part of [ref.namespace, ref.name])
      if (part !== undefined && (part === '' || part === '.' || part === '..' || /[/%]/.test(part)))
        throw new ClusterError('invalid', `\`${part}\` is not a name`)
    if (kind.namespaced && ref.namespace === undefined)
      throw new ClusterError('invalid', `${kind.kind} \`${ref.name}\` has no namespace`)
    return keyOf(kind, ref.namespace, ref.name)
  }

  #all(): readonly KubeObject[] {
    return [...this.#objects].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, stored]) => shown(stored))
  }

  #filter({ apiVersion, kind, namespace, labels, fields }: ObjectQuery): Filter {
    let matches: ReturnType<typeof parseSelector>
    try {
      matches = parseSelector(labels)
    } catch (error) {
      throw new ClusterError('invalid', (error as Error).message, { status: 400, reason: 'BadRequest' }) // it throws nothing else
    }
    return object =>
      object.apiVersion === apiVersion &&
      object.kind === kind &&
      (namespace === undefined || object.metadata.namespace === namespace) &&
      matches(object.metadata.labels ?? {}) &&
      (fields ?? '').split(',').every(one => one === '' || hasField(object, one))
  }

  #create(config: KubeObject, writer: Writer, dryRun: boolean): KubeObject {
    const kind = this.#kindOf(config)
    const { name, namespace } = config.metadata
    if (kind.namespaced && !this.#objects.has(`v1 Namespace  ${namespace}`))
      throw notFound(this.#kindOf({ apiVersion: 'v1', kind: 'Namespace' }), namespace!)
    const identity = {
      uid: crypto.randomUUID(),
      creationTimestamp: this.#time(),
      ...(hasGeneration(kind) && { generation: 1 }),
    }
    const empty: Stored = { kind, managers: [], object: blank(config, identity) }
    const wanted = withoutStatus(kind, config)
    const next =
      writer.operation === 'Apply'
        ? applied(empty, wanted, writer, kind.kind, false)
        : updated(empty, { ...wanted, metadata: { ...wanted.metadata, ...identity } }, writer, kind.kind)
    const object = { ...withDefaults(next.object as KubeObject, () => this.#address(dryRun)) } // it was made of one
    const stored: Stored = { kind, managers: next.managers, object: dryRun ? object : this.#versioned(object) }
    if (!dryRun) this.#put(keyOf(kind, namespace, name), undefined, stored)
    return shown(stored)
  }

  /**
   * Replaces the whole object. Keeps the fields that only the server writes; keeps the status, too, unless a controller
   * writes.
   */
  #update(
    stored: Stored,
    config: KubeObject,
    writer: Writer,
    isUser: boolean,
    dryRun = false,
    before = stored,
  ): KubeObject {
    const { kind, object } = stored
    const { status } = object
    const { uid, creationTimestamp, generation, resourceVersion, deletionTimestamp } = object.metadata
    const { managedFields: _, ...metadata } = config.metadata
    const kept = { uid, creationTimestamp, generation, resourceVersion, deletionTimestamp }
    const wanted = {
      ...config,
      metadata: { ...metadata, ...plain(kept) },
      ...(isUser && kind.hasStatus && { status }),
    }
    return this.#store(before, updated(stored, plain(wanted), writer, kind.kind), dryRun)
  }

  #store(stored: Stored, next: Managed, dryRun: boolean): KubeObject {
    const { kind } = stored
    const before = stored.object
    let after = withDefaults(next.object as KubeObject, () => this.#address(dryRun)) // it was made of one
    validateChange(kind, before, after)
    const specOf = ({ metadata: _, status: __, ...rest }: KubeObject) => textOf(rest)
    if (hasGeneration(kind) && specOf(before) !== specOf(after))
      after = { ...after, metadata: { ...after.metadata, generation: (before.metadata.generation ?? 0) + 1 } }
    const isSame = textOf(before) === textOf(after) && ownersOf(stored.managers) === ownersOf(next.managers)
    if (isSame) return shown(stored)
    const changed: Stored = { kind, managers: next.managers, object: dryRun ? { ...after } : this.#versioned(after) }
    if (dryRun) return shown(changed)
    const { name, namespace, deletionTimestamp, finalizers } = after.metadata
    const key = keyOf(kind, namespace, name)
    this.#put(key, stored, changed)
    // The last finalizer is removed: nothing keeps the object any more.
    if (deletionTimestamp !== undefined && !(Array.isArray(finalizers) && finalizers.length > 0)) this.#remove(changed)
    return shown(changed)
  }

  #delete(stored: Stored, marks: readonly string[]): void {
    const { kind, object } = stored
    const old = Array.isArray(object.metadata['finalizers']) ? object.metadata['finalizers'] : []
    const finalizers = [...new Set([...old, ...marks])]
    if (finalizers.length === 0 && kind.kind !== 'Namespace') {
      this.#remove(stored)
      return
    }
    const deletionTimestamp = object.metadata.deletionTimestamp ?? this.#time()
    const metadata = { ...object.metadata, deletionTimestamp, ...(finalizers.length > 0 && { finalizers }) }
    const marked = { ...stored, object: this.#versioned({ ...object, metadata }) }
    this.#put(keyOf(kind, metadata.namespace, metadata.name), stored, marked)
    setImmediate(() => this.#collect(marked, marks[0]))
  }

  #remove(stored: Stored): void {
    const { kind, object } = stored
    this.#objects.delete(keyOf(kind, object.metadata.namespace, object.metadata.name))
    const last = shown({ ...stored, object: this.#versioned(object) })
    for (const watcher of this.#watchers) watcher.note(shown(stored), undefined, last)
    this.#tryWaiting()
    setImmediate(() => {
      for (const dependant of this.#dependantsOf(object.metadata.uid!))
        if (!dependant.object.metadata.ownerReferences!.some(({ uid }) => this.#hasUid(uid)))
          this.#delete(dependant, [])
    })
  }

  /** Does the work of the garbage collector and the namespace controller for an object that is marked for deletion. */
  #collect({ kind, object }: Stored, mark: string | undefined): void {
    const { uid, namespace, name } = object.metadata
    const isNamespace = kind.kind === 'Namespace'
    for (const one of isNamespace ? this.#within(name) : this.#dependantsOf(uid!))
      if (mark !== 'orphan') this.#delete(one, isNamespace ? [] : ['foregroundDeletion'])
      else this.act(refOf(one.object), dependant => disowned(dependant, uid!), 'kube-controller-manager')
    const finish = () => {
      const live = this.#objects.get(keyOf(kind, namespace, name))
      if (live?.object.metadata.uid !== uid) return
      if ((isNamespace ? this.#within(name) : this.#dependantsOf(uid!)).length > 0)
        return void this.#waiting.add(finish)
      if (isNamespace) return this.#remove(live!)
      this.act(
        refOf(object),
        ({ metadata, ...rest }) => {
          const finalizers = (metadata['finalizers'] as readonly string[]).filter(one => one !== mark) // #delete put it there
          return { ...rest, metadata: { ...metadata, finalizers } } as KubeObject // only its finalizers are others
        },
        'kube-controller-manager',
      )
    }
    if (mark !== undefined || isNamespace) finish()
  }

  #dependantsOf(uid: string): readonly Stored[] {
    return [...this.#objects.values()].filter(({ object }) =>
      object.metadata.ownerReferences?.some(owner => owner.uid === uid),
    )
  }

  #hasUid(uid: string): boolean {
    return [...this.#objects.values()].some(({ object }) => object.metadata.uid === uid)
  }

  #within(namespace: string): readonly Stored[] {
    return [...this.#objects.values()].filter(({ object }) => object.metadata.namespace === namespace)
  }

  #put(key: string, before: Stored | undefined, after: Stored): void {
    this.#objects.set(key, after)
    const now = shown(after)
    for (const watcher of this.#watchers) watcher.note(before && shown(before), now, now)
    this.#tryWaiting()
  }

  /** Continues the deletions that wait, after a change that may have ended what they wait for. */
  #tryWaiting(): void {
    const waiting = [...this.#waiting]
    this.#waiting.clear()
    for (const finish of waiting) setImmediate(finish)
  }

  #versioned(object: KubeObject): KubeObject & Record_ {
    return { ...object, metadata: { ...object.metadata, resourceVersion: String(++this.#version) } }
  }

  #writer(manager: string, operation: Writer['operation'], { apiVersion }: Pick<KubeObject, 'apiVersion'>): Writer {
    return { manager, operation, apiVersion, time: this.#time() }
  }

  #address(dryRun: boolean): string {
    const next = dryRun ? this.#addresses : this.#addresses++
    return `10.96.${next >> 8}.${next & 255}`
  }

  #time(): string {
    return new Date(this.#now()).toISOString().replace(/\.\d+/, '')
  }
}

const keyOf = ({ apiVersion, kind, namespaced }: Kind, namespace: string | undefined, name: string): string =>
  `${apiVersion} ${kind} ${namespaced ? namespace : ''} ${name}`

const refOf = ({ apiVersion, kind, metadata: { name, namespace } }: KubeObject): ObjectRef => ({
  apiVersion,
  kind,
  name,
  namespace,
})

/** Returns a copy in the form that goes over the wire, so that no caller shares it. */
const plain = <T>(value: T): T => JSON.parse(JSON.stringify(value))

const shown = ({ object, managers }: Stored): KubeObject => {
  const { metadata, ...rest } = plain(object)
  return { ...rest, metadata: { ...metadata, managedFields: toManagedFields(managers) } } as KubeObject // as it was
}

const ownersOf = (managers: readonly Manager[]): string =>
  textOf(managers.map(({ manager, operation, fields }) => [manager, operation, [...fields].sort()]))

const blank = (
  { apiVersion, kind, metadata: { name, namespace } }: KubeObject,
  identity: Record_,
): Stored['object'] => ({
  apiVersion,
  kind,
  metadata: { name, ...(namespace !== undefined && { namespace }), ...identity },
})

const hasGeneration = ({ kind, hasStatus, namespaced }: Kind): boolean =>
  namespaced &&
  (hasStatus || kind === 'NetworkPolicy') &&
  !['Service', 'PersistentVolumeClaim', 'ResourceQuota'].includes(kind)

function withoutStatus(kind: Kind, object: KubeObject): KubeObject {
  const { status: _, managedFields: __, ...rest } = object as KubeObject & { status?: unknown; managedFields?: unknown } // it may have them
  return kind.hasStatus ? (rest as KubeObject) : object // it is one without
}

/** The API server writes no empty labels and annotations. */
function withoutEmptyMaps({ metadata, ...rest }: KubeObject): KubeObject {
  const kept = Object.entries(metadata).filter(
    ([field, value]) => !['labels', 'annotations'].includes(field) || Object.keys(value as object).length > 0, // maps
  )
  return { ...rest, metadata: Object.fromEntries(kept) } as unknown as KubeObject // without what it need not have
}

function disowned(object: KubeObject, uid: string): KubeObject {
  const ownerReferences = (object.metadata.ownerReferences ?? []).filter(owner => owner.uid !== uid)
  return { ...object, metadata: { ...object.metadata, ownerReferences } }
}

/** `metadata.name=web`: the value at a path is this text. */
function hasField(object: KubeObject, selector: string): boolean {
  const [, path = '', isNot, wanted] = /^([^!=]*)(!)?={1,2}(.*)$/.exec(selector) ?? []
  const value = path.split('.').reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], object)
  return (value === wanted) === (isNot === undefined)
}
