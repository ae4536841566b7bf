import { pause } from '../../../adapters/http/back-off.ts'
import { ClusterError, type KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import {
  ASLEEP,
  FALLING_ASLEEP,
  fromResting,
  type RestingObject,
  toResting,
  UNFOLLOWED,
  WOKEN,
} from '../../records/asleep.ts'
import { keeperBinding } from '../../records/member.ts'
import { MANAGER, rfc3339 } from '../../records/names.ts'
import {
  LAST_ACTIVE,
  type ManagedNamespace,
  type NamespaceStatus,
  STATUS,
  toNamespace,
} from '../../records/namespace.ts'
import type { ServerContext } from '../context.ts'
import { listMemberObjects } from '../http/member-objects.ts'
import { noNamespace, PlatformError } from '../http/platform-error.ts'
import type { NamespaceRef } from '../namespaces/shared-namespace.ts'
import { busyBy } from './activity.ts'
import { findIgnoredIngressClasses, hostOf, type SuspendedRoute } from './ignored-ingress-classes.ts'
import { openRoutes } from './routes-open.ts'
import { keptAwake } from './suspend-rules.ts'
import {
  type FailedChange,
  listSuspendable,
  type ObjectsOf,
  startWorkloads,
  suspendObjects,
  wakeRoute,
  wakeRoutes,
} from './suspended-objects.ts'

/** Minimum time between two wakes of a namespace by page visitors, in milliseconds. */
export const WAKE_PAUSE = 60_000
/** Time in milliseconds for the API server to apply a new RoleBinding. */
const BINDING = 3000
/** Maximum number of attempts to change a Namespace that other writers change, too. */
const ATTEMPTS = 5

/** Timeout for checking the routes of a sleeping namespace, in milliseconds. */
const LOOKING = 15_000
/**
 * Maximum length of the annotation in characters: half of the total size limit for the annotations of an object,
 * because further annotations are added when the namespace is woken or deleted.
 */
const LONGEST_RECORD = 128 << 10
const UNFOLLOWED_TEXT = 'the ingress controller ignores its class'

/** A namespace, and the object that it was parsed from. */
interface ReadNamespace {
  readonly live: KubeObject
  readonly namespace: ManagedNamespace
}

/** The background work that opens the routes of a namespace after a wake. */
interface Opening {
  /** RFC 3339 time of the wake, which identifies the wake. */
  readonly woken: string | undefined
  readonly stop: AbortController
  readonly done: Promise<void>
}

/** Puts namespaces to sleep, and wakes them (design, section 5). */
export class Sleep {
  readonly #world: ServerContext
  /** The namespaces whose routes this replica is opening, by name. */
  readonly #opening = new Map<string, Opening>()
  /** Running checks of the routes of namespaces that were put to sleep, by the name of the namespace. */
  readonly #looking = new Map<string, Promise<readonly string[]>>()

  constructor(world: ServerContext) {
    this.#world = world
  }

  /**
   * Stops all workloads in a namespace. Returns a clause for each object that was left awake, with the reason. The
   * values that are changed are recorded first, so an interrupted sleep can be completed, or undone by a wake. Throws a
   * PlatformError while a user is working in the namespace. If an object cannot be changed, the others sleep, and the
   * error is thrown.
   */
  async sleep(which: NamespaceRef, signal?: AbortSignal): Promise<readonly string[]> {
    return (await this.sleepIf(which, () => true, signal)) ?? []
  }

  /**
   * Does the same as `sleep` if `isWanted` returns true for the version of the namespace that is changed. Otherwise
   * changes nothing, and returns undefined.
   */
  async sleepIf(
    which: NamespaceRef,
    isWanted: (one: ManagedNamespace) => boolean,
    signal?: AbortSignal,
  ): Promise<readonly string[] | undefined> {
    const { cluster, now } = this.#world
    const { name } = which
    await this.#keep(name, signal)
    const busy = await busyBy(cluster, name, now(), signal)
    // Throws if the name belongs to another namespace by now, so that work in that namespace is not disclosed.
    const { namespace } = await this.#read(which, signal)
    if (!isWanted(namespace)) return undefined
    if (busy !== undefined)
      throw new PlatformError(409, 'busy', `namespace \`${name}\` is in use: ${busy}`, {
        hint: 'wait until a deploy has finished; `devctl down` ends a development container',
      })
    await this.#stopOpening(name)
    const kept: string[] = []
    const wanted: RestingObject[] = []
    const routes: SuspendedRoute[] = []
    for await (const [live, rule] of listSuspendable(this.#objectsOf(name, signal))) {
      const why = keptAwake(live)
      const one = why === undefined ? rule.remember(live) : undefined
      if (why !== undefined) kept.push(why)
      if (!one) continue
      wanted.push(one)
      const host = one.kind === 'Ingress' ? hostOf(live, this.#world.settings.domain) : undefined
      if (one.kind === 'Ingress' && host !== undefined) routes.push({ one, host })
    }
    // The time identifies this sleep, so it has milliseconds.
    const fallingAsleep = new Date(now()).toISOString()
    const changed = await this.#change(which, signal, ({ live, namespace }) => {
      const { status } = namespace
      if (status === 'Deleting' || status === 'DeleteFailed') throw isEnding(name)
      if (!isWanted(namespace)) return undefined
      // Entries are matched by name, so that none is kept for an object that was replaced by another of this name.
      const names = new Set(wanted.map(nameOf))
      const before = toResting(live.metadata.annotations?.[ASLEEP]).filter(one => !names.has(nameOf(one)))
      const asleep = fromResting([...before, ...wanted])
      if (asleep.length > LONGEST_RECORD)
        throw new PlatformError(409, 'too-many', `namespace \`${name}\` has too many workloads and routes to sleep`, {
          hint: 'delete what is not needed, or give them shorter names',
        })
      const annotations = { [ASLEEP]: asleep, [UNFOLLOWED]: null, [FALLING_ASLEEP]: fallingAsleep }
      return { status: 'Sleeping', annotations }
    })
    if (changed.namespace.fallingAsleep !== fallingAsleep) return undefined
    const [failed] = await suspendObjects(this.#objectsOf(name, signal), wanted)
    if (failed) throw failed.error
    await this.#change(which, signal, ({ namespace: one }) =>
      one.status === 'Sleeping' && one.fallingAsleep === fallingAsleep
        ? { status: one.status, annotations: { [FALLING_ASLEEP]: null } }
        : undefined,
    )
    this.#look(which, routes)
    return kept
  }

  /**
   * Waits for the running check of the routes of a namespace that was just put to sleep, and returns its messages.
   * Routes that their ingress controller still serves get their class back; the messages explain the consequences.
   * Returns an empty list if no check is running.
   */
  async looked(name: string): Promise<readonly string[]> {
    return (await this.#looking.get(name)) ?? []
  }

  #look(which: NamespaceRef, routes: readonly SuspendedRoute[]): void {
    const { leadsHere, log, now } = this.#world
    const { name } = which
    if (!leadsHere || routes.length === 0) return
    const looking = this.#restore(which, routes, leadsHere)
      .catch((error): readonly string[] => {
        log({ time: rfc3339(now()), text: `routes of ${name}: ${error}` })
        return []
      })
      .finally(() => {
        if (this.#looking.get(name) === looking) this.#looking.delete(name)
      })
    this.#looking.set(name, looking)
  }

  /**
   * Checks the sleeping routes, and restores the class of each route whose ingress controller ignores the changed
   * class. The changed class has no effect on such a route now, but would take it offline if the controller starts to
   * honor the class.
   */
  async #restore(
    which: NamespaceRef,
    routes: readonly SuspendedRoute[],
    leadsHere: NonNullable<ServerContext['leadsHere']>,
  ): Promise<readonly string[]> {
    const { log, now } = this.#world
    const { name } = which
    const found = await findIgnoredIngressClasses(routes, leadsHere, AbortSignal.timeout(LOOKING))
    if (found.length === 0) return []
    const { namespace } = await this.#change(which, undefined, ({ namespace: { status } }) =>
      status === 'Sleeping' ? { status, annotations: { [UNFOLLOWED]: 'true' } } : undefined,
    )
    if (namespace.status !== 'Sleeping') return []
    for (const { one, error } of await wakeRoutes(this.#objectsOf(name), found))
      log({ time: rfc3339(now()), text: `class of ${one.kind} ${one.name} in ${name}: ${error}` })
    log({ time: rfc3339(now()), text: `${name} is asleep, but opening its pages does not wake it: ${UNFOLLOWED_TEXT}` })
    return found.map(
      one =>
        `\`ingress/${one.name}\` does not wake the namespace: ${UNFOLLOWED_TEXT}; \`devctl namespace wake ${name}\` wakes it`,
    )
  }

  /**
   * Starts the workloads that sleep has stopped; does nothing if the namespace is awake. Its routes are opened in the
   * background, as soon as their backends are ready. Objects that cannot be woken stay recorded for `goOn`.
   */
  async wake(which: NamespaceRef, signal?: AbortSignal): Promise<NamespaceStatus> {
    const { name } = which
    const now = this.#world.now()
    // The time identifies this wake, so it has milliseconds.
    const times = { [LAST_ACTIVE]: rfc3339(now), [WOKEN]: new Date(now).toISOString() }
    const found = await this.#change(which, signal, ({ namespace: { status } }) =>
      status === 'Sleeping'
        ? { status: 'Waking', annotations: { ...times, [UNFOLLOWED]: null, [FALLING_ASLEEP]: null } }
        : undefined,
    )
    const { live, namespace } = found
    if (namespace.status === 'Deleting' || namespace.status === 'DeleteFailed') throw isEnding(name)
    if (namespace.status !== 'Waking') return namespace.status
    const failed = await startWorkloads(this.#objectsOf(name, signal), toResting(live.metadata.annotations?.[ASLEEP]))
    void this.#open(which, found, failed)
    return 'Waking'
  }

  /** Completes a wake that another replica began, or tries again to wake objects that could not be woken. */
  async goOn(which: NamespaceRef, signal: AbortSignal): Promise<void> {
    const found = await this.#read(which, signal)
    const { status } = found.namespace
    const record = found.live.metadata.annotations?.[ASLEEP]
    if (status !== 'Waking' && !(status === 'Active' && record !== undefined)) return
    const failed = await startWorkloads(this.#objectsOf(which.name, signal), toResting(record))
    await this.#open(which, found, failed)
  }

  /**
   * Opens the routes of a namespace that is waking up, instead of the routes of an earlier wake. Resolves when all
   * routes are open that can be opened, or the namespace sleeps again. Never rejects.
   */
  #open(which: NamespaceRef, found: ReadNamespace, failed: readonly FailedChange[]): Promise<void> {
    const { name } = which
    const { woken } = found.namespace
    const known = this.#opening.get(name)
    if (known && known.woken === woken) return known.done
    known?.stop.abort()
    const stop = new AbortController()
    const done = this.#openAll(which, found, failed, stop)
      .catch(error => {
        const time = rfc3339(this.#world.now())
        if (!stop.signal.aborted) this.#world.log({ time, text: `waking ${name}: ${error}` })
      })
      .finally(() => {
        if (this.#opening.get(name)?.stop === stop) this.#opening.delete(name)
      })
    this.#opening.set(name, { woken, stop, done })
    return done
  }

  /** Stops opening routes, and waits until no more changes are on their way. */
  async #stopOpening(name: string): Promise<void> {
    const opening = this.#opening.get(name)
    opening?.stop.abort()
    await opening?.done
  }

  /** Resolves when no route is being opened or checked. */
  async settled(): Promise<void> {
    await Promise.all([...[...this.#opening.values()].map(({ done }) => done), ...this.#looking.values()])
  }

  async #openAll(
    which: NamespaceRef,
    { live, namespace }: ReadNamespace,
    failed: readonly FailedChange[],
    stop: AbortController,
  ): Promise<void> {
    const { cluster, log, now } = this.#world
    const { name } = which
    const routes = toResting(live.metadata.annotations?.[ASLEEP]).filter(({ kind }) => kind === 'Ingress')
    const age = now() - (Date.parse(namespace.woken ?? '') || now())
    // The namespace may have been put to sleep, and woken again, by another replica in the meantime.
    const isCurrent = (one: ManagedNamespace) => one.status === namespace.status && one.woken === namespace.woken
    const open = async (one: RestingObject) => {
      if (!isCurrent((await this.#read(which, stop.signal)).namespace)) stop.abort()
      stop.signal.throwIfAborted()
      // Without the signal, because a request that is given up may still change the route later.
      await wakeRoute(this.#objectsOf(name), one)
    }
    const closed = await openRoutes({ cluster, namespace: name, routes, signal: stop.signal }, age, open)
    const left = [...failed, ...closed]
    const asleep = left.length === 0 ? null : fromResting(left.map(({ one }) => one))
    await this.#change(which, stop.signal, ({ namespace: one }) =>
      isCurrent(one) ? { status: 'Active', annotations: { [ASLEEP]: asleep } } : undefined,
    )
    for (const { one, error } of left)
      log({ time: rfc3339(now()), text: `waking ${name}: ${one.kind} ${one.name}: ${error}` })
  }

  #objectsOf(namespace: string, signal?: AbortSignal): ObjectsOf {
    return { cluster: this.#world.cluster, namespace, signal }
  }

  /**
   * Makes sure that the server has the rights to put a namespace to sleep. Namespaces that an older version created
   * lack these rights.
   */
  async #keep(name: string, signal?: AbortSignal): Promise<void> {
    const { cluster } = this.#world
    const until = Date.now() + BINDING
    for (let attempt = 0; ; attempt++) {
      try {
        const deployments = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: name }
        // Reading the first object is enough to check the rights.
        for await (const _ of listMemberObjects(cluster, deployments, signal)) return
        return
      } catch (error) {
        if (!(error instanceof ClusterError) || error.failure !== 'forbidden' || Date.now() > until) throw error
      }
      if (attempt === 0) await cluster.apply(keeperBinding(name), { manager: MANAGER, force: true, signal })
      await pause(100, signal)
    }
  }

  /**
   * Reads the namespace with this name and UID. Throws a PlatformError if the namespace was replaced by a later
   * namespace of the same name.
   */
  async #read({ name, uid }: NamespaceRef, signal?: AbortSignal): Promise<ReadNamespace> {
    const live = await this.#world.cluster.get({ apiVersion: 'v1', kind: 'Namespace', name }, { signal })
    const namespace = live && toNamespace(live)
    if (!namespace || (uid !== undefined && namespace.uid !== uid)) throw noNamespace(name)
    return { live, namespace }
  }

  /**
   * Updates the Namespace with the change that `decide` returns for the version that was read. If another writer was
   * faster, reads the Namespace and decides again. Returns the new version, or the version that was read if `decide`
   * returns undefined.
   */
  async #change(
    which: NamespaceRef,
    signal: AbortSignal | undefined,
    decide: (
      found: ReadNamespace,
    ) =>
      | { readonly status: NamespaceStatus; readonly annotations: Readonly<Record<string, string | null>> }
      | undefined,
  ): Promise<ReadNamespace> {
    for (let attempt = 1; ; attempt++) {
      const found = await this.#read(which, signal)
      const change = decide(found)
      if (!change) return found
      const { resourceVersion } = found.live.metadata
      const metadata = { resourceVersion, labels: { [STATUS]: change.status }, annotations: change.annotations }
      try {
        const ref = { apiVersion: 'v1', kind: 'Namespace', name: which.name }
        const live = await this.#world.cluster.patch(ref, { metadata }, { manager: MANAGER, signal })
        return { live, namespace: toNamespace(live) ?? found.namespace }
      } catch (error) {
        if (!(error instanceof ClusterError) || error.failure !== 'conflict' || attempt >= ATTEMPTS) throw error
      }
    }
  }
}

const nameOf = ({ kind, name }: RestingObject): string => `${kind}/${name}`
const isEnding = (name: string) => new PlatformError(409, 'deleting', `namespace \`${name}\` is being deleted`)
