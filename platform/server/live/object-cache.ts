import { type Change, type Cluster, ClusterError, type KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import { kindsOf } from '../../../constructs/kinds.ts'
import { gatewaysOf } from '../../../environment/endpoints/gateways.ts'
import type { Gateways } from '../../../environment/endpoints/routes.ts'
import { ENVIRONMENT_LABEL } from '../../../environment/labels.ts'
import { recordName } from '../../../environment/record/record.ts'
import { toWarning, Warnings } from '../../../environment/status/events.ts'
import { STATE_KINDS } from '../../../environment/status/overview.ts'
import type { SeenPod } from '../../../environment/status/pod-fields.ts'
import { CAPACITY_EVENTS, isAboutCapacity, isUnschedulable } from '../../../environment/status/unschedulable.ts'
import { PAGES_OF_MEMBERS } from '../http/member-objects.ts'
import { trimObject } from './trim-object.ts'

/** Maximum size of all cached objects of a namespace, in characters. Further objects are ignored. */
const MOST = 16 * 1024 * 1024
/** Maximum number of objects in one environment, because the time to evaluate them grows with their number. */
const MOST_OBJECTS = 10_000
const MOST_ENVIRONMENTS = 200
/** Maximum number of routes whose Gateways are read. */
const MOST_ROUTES = 100
/** Minimum time between two reads of Gateways, in milliseconds. */
const GATEWAYS = 500

/**
 * Kinds of objects that are watched. An error is ignored for optional kinds that are missing in the cluster, or that
 * the viewer has no right to list.
 */
const KINDS: readonly WatchedKind[] = [
  { apiVersion: 'v1', kind: 'ConfigMap' },
  ...kindsOf('workload').map(({ apiVersion, kind }) => ({ apiVersion, kind })),
  ...kindsOf('route').map(({ apiVersion, kind }) => ({
    apiVersion,
    kind,
    ...(kind === 'HTTPRoute' && { isOptional: true as const }),
  })),
  ...STATE_KINDS.map(([apiVersion, kind]) => ({ apiVersion, kind })),
  { apiVersion: 'v1', kind: 'Event', fields: 'type=Warning', isOptional: true },
]

/** Events of autoscalers. They are watched only after a Pod without a node was seen. */
const CAPACITY: WatchedKind = { apiVersion: 'v1', kind: 'Event', fields: CAPACITY_EVENTS, isOptional: true }

interface WatchedKind {
  readonly apiVersion: string
  readonly kind: string
  /** Field selector. Absent for kinds whose objects are selected by the label of their environment. */
  readonly fields?: string
  readonly isOptional?: true
}

/** The objects of one environment. */
export interface SceneEnvironment {
  readonly name: string
  readonly objects: ReadonlyMap<string, KubeObject>
  /** The object that contains the deploy record; undefined if there is none. */
  readonly record: KubeObject | undefined
}

/** A memory budget in characters. */
export interface Room {
  /** Reserves a part of the budget. Returns false if the rest of the budget is too small. */
  take(size: number): boolean
  give(size: number): void
}

/**
 * The objects of a namespace that a user may see, kept up to date by watches. Its size is bounded, because any user
 * with write access to the namespace can create many objects.
 */
export class ObjectCache {
  readonly #cluster: Cluster
  readonly #namespace: string
  readonly #environments = new Map<string, Map<string, KubeObject>>()
  /** Environment, size and watched kind of each object, by kind and name of the object. */
  readonly #sizes = new Map<
    string,
    { readonly environment: string; readonly size: number; readonly watched: WatchedKind }
  >()
  /** Environments by the UID of an object, for finding the object that an event is about. */
  readonly #environmentOf = new Map<string, string>()
  readonly warnings = new Warnings()
  /** Starts to watch the events of autoscalers. */
  #watchCapacity: () => void = () => {}
  #gateways: Gateways = new Map()
  #isLooking = false
  #size = 0
  #isCut = false
  #isOver = false
  readonly #changed: (environment: string) => void
  readonly #room: Room

  /** Creates a cache. `changed` is called for each environment in which an object has changed. */
  constructor(cluster: Cluster, namespace: string, room: Room, changed: (environment: string) => void) {
    this.#cluster = cluster
    this.#namespace = namespace
    this.#room = room
    this.#changed = changed
  }

  /** True if some objects were ignored because of the limits. */
  get isCut(): boolean {
    return this.#isCut
  }

  get gateways(): Gateways {
    return this.#gateways
  }

  environments(): readonly SceneEnvironment[] {
    return [...this.#environments.keys()].sort().flatMap(name => this.environment(name) ?? [])
  }

  environment(name: string): SceneEnvironment | undefined {
    const objects = this.#environments.get(name)
    return objects && { name, objects, record: objects.get(`ConfigMap/${recordName(name)}`) }
  }

  /**
   * Watches the objects until the signal is aborted. `listed` is called when all initial lists are complete. Rejects
   * with the error that ended a watch, such as a ClusterError `forbidden` if the user has no rights in the namespace.
   */
  async run(signal: AbortSignal, listed: () => void): Promise<never> {
    const stop = new AbortController()
    const both = AbortSignal.any([signal, stop.signal])
    let missing = KINDS.length
    const one = async (kind: (typeof KINDS)[number]) => {
      let isListed = false
      const done = () => {
        if (isListed) return
        isListed = true
        missing--
        if (missing === 0) listed()
      }
      try {
        await this.#watch(kind, both, done)
      } catch (error) {
        if (!kind.isOptional || !(error instanceof ClusterError) || !MISSING.has(error.failure)) throw error
        done()
        both.throwIfAborted()
        await new Promise<never>((_, reject) => both.addEventListener('abort', () => reject(both.reason)))
      }
    }
    let isCapacityWatched = false
    this.#watchCapacity = () => {
      if (isCapacityWatched) return
      isCapacityWatched = true
      this.#watch(CAPACITY, both, () => {}).catch(error => {
        if (!(error instanceof ClusterError) || !MISSING.has(error.failure)) stop.abort(error)
      })
    }
    try {
      await Promise.all(KINDS.map(one))
      throw new ClusterError('unavailable', 'the watches have ended')
    } finally {
      stop.abort()
      this.#isOver = true
      this.#room.give(this.#size)
    }
  }

  async #watch(watched: WatchedKind, signal: AbortSignal, listed: () => void): Promise<void> {
    const { apiVersion, kind, fields } = watched
    const which = fields === undefined ? { labels: ENVIRONMENT_LABEL } : { fields }
    const query = { apiVersion, kind, namespace: this.#namespace, ...which }
    // Objects from before the restart of the watch that the new list does not contain.
    let lost = new Set<string>()
    for await (const change of this.#cluster.watch(query, { signal, ...PAGES_OF_MEMBERS })) {
      if (change.type === 'Restarted') {
        lost = new Set([...this.#sizes].flatMap(([key, one]) => (one.watched === watched ? [key] : [])))
      } else if (change.type === 'Listed') {
        for (const key of lost) this.#lose(key)
        lost = new Set()
        listed()
      } else {
        lost.delete(keyOf(kind, change.object))
        this.#take(watched, change)
      }
      if (kind === 'HTTPRoute') this.#lookAtGateways(signal)
    }
  }

  #take(watched: WatchedKind, { type, object }: Extract<Change, { object: KubeObject }>): void {
    if (this.#isOver) return
    const { kind } = watched
    if (watched === CAPACITY && !isAboutCapacity(toWarning(object).reason)) return
    if (kind === 'Pod' && isUnschedulable(object as SeenPod)) this.#watchCapacity() // the server has checked its shape
    const key = keyOf(kind, object)
    const before = this.#sizes.get(key)
    this.#remove(key)
    if (type === 'Deleted') {
      if (kind === 'Event') this.#takeWarning(object, false)
      return
    }
    const small = trimObject({ ...object, kind })
    const environment = kind === 'Event' ? '' : (object.metadata.labels?.[ENVIRONMENT_LABEL] ?? '')
    if (kind !== 'Event' && environment === '') return
    if (kind === 'ConfigMap' && object.metadata.name !== recordName(environment)) return
    const objects = this.#environments.get(environment)
    const isFull =
      !small ||
      this.#size + small.size > MOST ||
      (objects ? objects.size >= MOST_OBJECTS : kind !== 'Event' && this.#environments.size >= MOST_ENVIRONMENTS) ||
      !this.#room.take(small.size)
    if (isFull) {
      this.#isCut = true
      if (before) this.#changed(before.environment)
      return
    }
    this.#size += small.size
    this.#sizes.set(key, { environment, size: small.size, watched })
    if (kind === 'Event') {
      this.#takeWarning(small.object, true)
      return
    }
    if (objects) objects.set(key, small.object)
    else this.#environments.set(environment, new Map([[key, small.object]]))
    if (object.metadata.uid !== undefined) this.#environmentOf.set(object.metadata.uid, environment)
    this.#changed(environment)
  }

  #takeWarning(event: KubeObject, isThere: boolean): void {
    if (isThere) this.warnings.set(event)
    else this.warnings.delete(event)
    const environment = this.#environmentOf.get(toWarning(event).about.uid)
    if (environment !== undefined) this.#changed(environment)
  }

  /** Removes an object that no longer exists. If the object is an Event, removes its warning, too. */
  #lose(key: string): void {
    if (this.#sizes.get(key)?.watched.kind === 'Event') {
      const metadata = { name: key.slice('Event/'.length) }
      this.#takeWarning({ apiVersion: 'v1', kind: 'Event', metadata }, false)
    }
    this.#remove(key)
  }

  #remove(key: string): void {
    const known = this.#sizes.get(key)
    if (!known || this.#isOver) return
    this.#sizes.delete(key)
    this.#size -= known.size
    this.#room.give(known.size)
    const objects = this.#environments.get(known.environment)
    const uid = objects?.get(key)?.metadata.uid
    if (uid !== undefined) this.#environmentOf.delete(uid)
    objects?.delete(key)
    if (objects?.size === 0) this.#environments.delete(known.environment)
    if (objects) this.#changed(known.environment)
  }

  /**
   * Schedules a read of the Gateways of routes. The read is needed after a route has changed, because the scheme of a
   * route's URL depends on its Gateway.
   */
  #lookAtGateways(signal: AbortSignal): void {
    if (this.#isLooking || signal.aborted) return
    this.#isLooking = true
    const look = async () => {
      this.#isLooking = false
      const all = [...this.#environments].flatMap(([name, objects]) =>
        [...objects.values()].flatMap(one => (one.kind === 'HTTPRoute' ? [{ name, one }] : [])),
      )
      const routes = all.slice(0, MOST_ROUTES)
      this.#gateways = await gatewaysOf(
        this.#cluster,
        routes.map(({ one }) => one),
        { signal },
      )
      for (const name of new Set(routes.map(route => route.name))) this.#changed(name)
    }
    const timer = setTimeout(() => look().catch(() => {}), GATEWAYS)
    signal.addEventListener('abort', () => clearTimeout(timer), { once: true })
  }
}

/**
 * Failures of a watch that mean that the kind is missing in the cluster, or that the user may not see objects of this
 * kind.
 */
const MISSING: ReadonlySet<string> = new Set(['forbidden', 'not-found'])

const keyOf = (kind: string, { metadata }: KubeObject): string => `${kind}/${metadata.name}`
