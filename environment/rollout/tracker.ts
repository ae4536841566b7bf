import {
  type Change,
  type Cluster,
  ClusterError,
  type KubeObject,
  type ObjectQuery,
} from '../../adapters/kubernetes/cluster.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { isEnding } from '../apply/removal.ts'
import { mirrorOf } from '../apply/suspended.ts'
import type { Clock } from '../clock.ts'
import { environmentSelector } from '../labels.ts'
import { nameOf, serviceOf } from '../plan/desired-state.ts'
import { isTaken } from '../record/up-record.ts'
import { toWarning, type Warning, Warnings } from '../status/events.ts'
import { controllerOf } from '../status/owners.ts'
import type { SeenPod } from '../status/pod-fields.ts'
import {
  changedAt,
  claimProblems,
  hasStarted,
  isReady,
  isTriedAgain,
  type Problem,
  podProblems,
  restartsOf,
  workloadProblems,
} from '../status/problems.ts'
import { CAPACITY_EVENTS, CAPACITY_GRACE, isAboutCapacity, isUnschedulable } from '../status/unschedulable.ts'
import { type Attempt, JobAttempts } from './attempts.ts'
import { newestPods, replacedPods } from './revisions.ts'
import { StabilityWindow } from './stability-window.ts'
import { isSeen, statusOf, type WorkloadStatus } from './status.ts'

/** Error for a workload that was deleted while devctl waited for it. */
export class WorkloadDeleted extends UserError {
  constructor(object: KubeObject) {
    super(`\`${nameOf(object)}\` was deleted while devctl waited for it`, { hint: '`devctl deploy` creates it again' })
  }
}

/**
 * Milliseconds during which retried failures of a Pod do not count if the Pod was starting before the watch began. Such
 * a failure may be outdated: the cause may have been fixed, which the kubelet shows only after the next attempt.
 */
const RETRY_GRACE = 30_000

/** State of a workload, with the Pods of its newest generation. */
export interface ObservedWorkload {
  readonly object: KubeObject
  readonly status: WorkloadStatus
  /** True if the Pods have run for long enough to expect that they keep running (`StabilityWindow.isStable`). */
  readonly isStable: boolean
  readonly hasStartedPod: boolean
  /**
   * True if all Pods are ready, and have been for as long as `StabilityWindow.isSettled` requires. A server Job counts
   * as ready when this is true.
   */
  readonly hasReadyPods: boolean
  readonly pods: readonly KubeObject[]
  /**
   * Older Pods that are not ready because of a problem. Their controller waits for them to become ready, so it does not
   * replace them.
   */
  readonly stuck: readonly KubeObject[]
  readonly problems: readonly Problem[]
  /** Warnings of the cluster about the workload and its Pods and claims, newest last. */
  readonly warnings: readonly Warning[]
  /** Last failed attempt of the workload, if it is a Job. The Pod of the attempt may no longer exist. */
  readonly attempt?: Attempt
}

/**
 * Watches the workloads, Pods and claims of an environment and the warnings of its namespace, and notifies listeners of
 * changes. The watches start with the first request, and end with `stop`.
 */
export class Tracker {
  readonly #cluster: Cluster
  readonly #clock: Clock
  readonly #environment: string
  readonly #namespace: string
  readonly #begun: ReadonlySet<string | undefined>
  readonly #beganAt: number
  readonly #stop = new AbortController()
  readonly #objects = new Map<string, KubeObject>()
  /** Objects of each service, by the key of the object. */
  readonly #ofService = new Map<string, Map<string, KubeObject>>()
  readonly #warnings = new Warnings()
  /** Events of autoscalers, by the object that they are about. */
  readonly #capacity = new Warnings()
  /** Restart counts of the containers of each Pod when it was first seen, by Pod UID. */
  readonly #restarts = new Map<string | undefined, ReadonlyMap<string, number>>()
  readonly #settling = new StabilityWindow()
  readonly #attempts: JobAttempts
  /** UIDs of Pods that are being deleted: they still occupy resources that other Pods may need. */
  readonly #ending = new Set<string | undefined>()
  /** Time at which the last Pod in `#ending` was deleted, in milliseconds since 1970; minus infinity if none was. */
  #freedAt = Number.NEGATIVE_INFINITY
  readonly #watched = new Set<string>()
  /** Workloads that are being deleted, or have been, by UID. */
  readonly #deleted = new Map<string | undefined, KubeObject>()
  /** Kinds whose initial list is complete. */
  readonly #listed = new Set<string>()
  /** Listeners by the service that they watch. */
  readonly #listeners = new Map<string, Set<() => void>>()
  #failure: unknown

  /** `begun` are the UIDs of the Pods that were already starting before the watch began. */
  constructor(
    cluster: Cluster,
    environment: string,
    namespace: string,
    clock: Clock,
    begun: Iterable<string | undefined> = [],
  ) {
    this.#cluster = cluster
    this.#attempts = new JobAttempts(cluster)
    this.#clock = clock
    this.#begun = new Set(begun)
    this.#beganAt = clock.now()
    this.#environment = environment
    this.#namespace = namespace
  }

  /**
   * Resolves when `check` returns a value other than undefined for a workload. Throws the errors of `check` and of the
   * watches; WorkloadDeleted if the workload is deleted; or the abort reason if the signal is aborted.
   */
  async until<T>(
    workload: KubeObject,
    check: (tracked: ObservedWorkload | undefined) => T | undefined,
    signal: AbortSignal,
  ): Promise<T> {
    this.#watch(workload.apiVersion, workload.kind)
    this.#watch('v1', 'Pod')
    if (isTaken(workload)) this.#watch('apps/v1', 'Deployment')
    if (this.#watched.has('Deployment')) this.#watch('apps/v1', 'ReplicaSet')
    if (hasClaims(workload)) this.#watch('v1', 'PersistentVolumeClaim')
    this.#watchWarnings()
    const listeners = this.#listenersOf(serviceOf(workload) ?? '')
    return new Promise<T>((resolve, reject) => {
      const end = (finish: () => void) => {
        listeners.delete(look)
        signal.removeEventListener('abort', look)
        stopLooking()
        finish()
      }
      const look = () => {
        if (signal.aborted) return end(() => reject(signal.reason))
        if (this.#failure) return end(() => reject(this.#failure))
        try {
          const result = check(this.#tracked(workload))
          if (result !== undefined) return end(() => resolve(result))
          const deleted = this.#deleted.get(workload.metadata.uid)
          if (deleted && statusOf(deleted).state !== 'complete') throw new WorkloadDeleted(deleted)
        } catch (error) {
          end(() => reject(error))
        }
      }
      // Checks regularly, too, because a watch does not report that a state lasts too long.
      const stopLooking = this.#clock.every(1000, look)
      listeners.add(look)
      signal.addEventListener('abort', look)
      look()
    })
  }

  /** Returns the last known state of a workload; undefined if it was never requested. */
  now(workload: KubeObject): ObservedWorkload | undefined {
    return this.#tracked(workload)
  }

  stop(): void {
    this.#stop.abort()
  }

  /**
   * Returns the latest known state of a workload. Undefined while the known version is older than the applied one, or
   * while the Pods or other objects of the workload are not known yet.
   */
  #tracked(workload: KubeObject): ObservedWorkload | undefined {
    const isUnknown = (kind: string) => this.#watched.has(kind) && !this.#listed.has(kind)
    if (!this.#listed.has('Pod') || isUnknown('Deployment') || isUnknown('ReplicaSet')) return undefined
    const applied = this.#objects.get(keyOf(workload))
    if (!applied || applied.metadata.uid !== workload.metadata.uid) return undefined
    if ((applied.metadata.generation ?? 0) < (workload.metadata.generation ?? 0)) return undefined
    // While a mirror stands in for a workload, the mirror's Pods count.
    const mirror = mirrorOf(applied, [...this.#objects.values()])
    const object = mirror ?? applied
    const all = [...(this.#ofService.get(serviceOf(object) ?? '')?.values() ?? [])]
    const sets = all.filter(one => one.kind === 'ReplicaSet')
    const own = all.filter(one => one.kind === 'Pod' && belongsTo(one, object))
    const pods = newestPods(object, sets, own)
    const claimed = new Set(pods.flatMap(claimsOf))
    const claims = [...claimed].flatMap(name => this.#objects.get(`PersistentVolumeClaim/${name}`) ?? [])
    const now = this.#clock.now()
    const since = changedAt(object)
    const isInGrace = now - this.#beganAt < RETRY_GRACE
    const isMakingRoom = this.#ending.size > 0 || now - this.#freedAt < CAPACITY_GRACE
    const podProblemsOf = (pod: KubeObject) => {
      const { uid } = pod.metadata
      const found = podProblems(pod, this.#eventsAbout(pod), now, this.#restarts.get(uid), since)
      const counted = isInGrace && this.#begun.has(uid) ? found.filter(one => !isTriedAgain(one)) : found
      if (isMakingRoom) return counted.map(asMakingRoom)
      return this.#knowsCapacity ? counted : counted.map(asUnknown)
    }
    const stuck = replacedPods(object, own).filter(pod => podProblemsOf(pod).length > 0)
    const problems = [
      // The status describes the previous generation until the controller has seen the change.
      ...(isSeen(object)
        ? workloadProblems(
            object,
            [object, ...sets].flatMap(one => this.#warnings.about(one)),
            sets,
          )
        : []),
      ...claims.flatMap(claim =>
        claimProblems(
          claim,
          this.#warnings.about(claim).filter(({ time }) => time >= since),
          now,
        ),
      ),
      ...pods.flatMap(podProblemsOf),
    ]
    const warnings = [object, ...claims, ...pods].flatMap(one => this.#eventsAbout(one)).sort((a, b) => a.time - b.time)
    const known = this.#settled(statusOf(object, pods), pods, now)
    // Once a Job has failed, its attempts are no longer separate problems.
    const hasFailed = object.kind === 'Job' && known.state === 'failed'
    const attempt = object.kind === 'Job' ? this.#attempts.of(object) : undefined
    const status = mirror ? { ...known, text: known.text.replace(/^Deployment/, 'development container') } : known
    const isStable = pods.every(pod => this.#settling.isStable(pod, now))
    const hasReadyPods = pods.length > 0 && pods.every(pod => isReady(pod) && this.#settling.isSettled(pod, now))
    const hasStartedPod = pods.some(hasStarted)
    return {
      ...{ object, status, isStable, hasStartedPod, hasReadyPods, pods, stuck, warnings },
      problems: hasFailed ? problems.filter(one => !one.isPassing) : problems,
      ...(attempt && { attempt }),
    }
  }

  /**
   * Returns the status with `waiting` instead of `ready` until all Pods have settled, because a Pod that has just
   * become ready can still fail.
   */
  #settled(status: WorkloadStatus, pods: readonly KubeObject[], now: number): WorkloadStatus {
    if (status.state !== 'ready') return status
    if (pods.every(pod => this.#settling.isSettled(pod, now))) return status
    return { state: 'waiting', text: `${status.text}, settling` }
  }

  #watch(apiVersion: string, kind: string): void {
    const query = { apiVersion, kind, namespace: this.#namespace, labels: environmentSelector(this.#environment) }
    // Objects known before a restart of the watch that have not been reported again.
    let lost = new Map<string | undefined, KubeObject>()
    this.#follow(query, change => {
      if (change.type === 'Listed') {
        for (const [uid, object] of lost) this.#deleted.set(uid, object)
        return
      }
      if (change.type === 'Restarted') {
        const known = [...this.#objects.values()].filter(object => object.kind === kind)
        lost = new Map(known.map(object => [object.metadata.uid, object]))
        for (const object of known) this.#forget(object)
        return
      }
      const object = { ...change.object, kind }
      const { uid } = object.metadata
      lost.delete(uid)
      if (kind !== 'Pod' && (change.type === 'Deleted' || isEnding(object))) this.#deleted.set(uid, object)
      if (kind === 'Pod') {
        if (!this.#restarts.has(uid)) this.#restarts.set(uid, restartsOf(object))
        this.#settling.see(object, this.#clock.now(), !this.#listed.has(kind))
        this.#attempts.see(object)
        if (isUnschedulable(object as unknown as SeenPod)) this.#watchCapacity() // the server has checked its shape
      }
      if (change.type === 'Deleted') this.#forget(object)
      else this.#keep(object)
    })
  }

  #keep(object: KubeObject): void {
    if (object.kind === 'Pod' && isEnding(object) && hasNode(object)) this.#ending.add(object.metadata.uid)
    const service = serviceOf(object) ?? ''
    this.#objects.set(keyOf(object), object)
    if (!this.#ofService.has(service)) this.#ofService.set(service, new Map())
    this.#ofService.get(service)!.set(keyOf(object), object)
  }

  #forget(object: KubeObject): void {
    if (this.#ending.delete(object.metadata.uid)) this.#freedAt = this.#clock.now()
    this.#objects.delete(keyOf(object))
    this.#ofService.get(serviceOf(object) ?? '')?.delete(keyOf(object))
  }

  #watchWarnings(): void {
    this.#watchEvents('type=Warning', this.#warnings)
  }

  /** True if the existing events of autoscalers have been listed. */
  get #knowsCapacity(): boolean {
    return this.#listed.has(eventsOf(CAPACITY_EVENTS))
  }

  /** Watches the Normal events in which autoscalers report that a node is coming, or that no node will come. */
  #watchCapacity(): void {
    this.#watchEvents(CAPACITY_EVENTS, this.#capacity)
  }

  #watchEvents(fields: string, known: Warnings): void {
    this.#follow({ apiVersion: 'v1', kind: 'Event', namespace: this.#namespace, fields }, change => {
      if (change.type === 'Restarted') known.clear()
      else if (change.type === 'Deleted') known.delete(change.object)
      else if (change.type === 'Changed') known.set(change.object)
    })
  }

  /** Returns the warnings about an object, and the autoscaler events about it, newest last. */
  #eventsAbout(object: KubeObject): readonly Warning[] {
    const capacity = this.#capacity.about(object).filter(({ reason }) => isAboutCapacity(reason))
    return [...this.#warnings.about(object), ...capacity].sort((a, b) => a.time - b.time)
  }

  #follow(query: ObjectQuery, take: (change: Change) => void): void {
    const id = query.kind === 'Event' ? eventsOf(query.fields) : query.kind
    if (this.#watched.has(id)) return
    this.#watched.add(id)
    const run = async () => {
      let isWhole = false
      for await (const change of this.#cluster.watch(query, { signal: this.#stop.signal })) {
        take(change)
        // All existing objects are sent again after a restart: until then no object counts as missing.
        if (change.type === 'Restarted') isWhole = false
        else if (change.type === 'Listed') {
          isWhole = true
          this.#listed.add(id)
        }
        if (isWhole) this.#tell(change)
      }
    }
    run().catch(error => {
      if (this.#stop.signal.aborted) return
      // Messages have less detail if the user may not read warnings.
      if (query.kind === 'Event' && error instanceof ClusterError && error.failure === 'forbidden') {
        this.#listed.add(id)
        return
      }
      this.#failure = error
      this.#tell()
    })
  }

  /** Notifies the listeners of the service that a change is about. Notifies all listeners if the service is unknown. */
  #tell(change?: Change): void {
    const service = change && 'object' in change ? this.#serviceOf(change.object) : undefined
    const concerned = service === undefined ? [...this.#listeners.values()] : [this.#listenersOf(service)]
    for (const listener of concerned.flatMap(listeners => [...listeners])) listener()
  }

  #serviceOf(object: KubeObject): string | undefined {
    if (object.kind !== 'Event') return serviceOf(object)
    const { kind, name } = toWarning(object).about
    const about = this.#objects.get(`${kind}/${name}`)
    return about && serviceOf(about)
  }

  #listenersOf(service: string): Set<() => void> {
    const found = this.#listeners.get(service) ?? new Set()
    this.#listeners.set(service, found)
    return found
  }
}

/**
 * Returns a scheduling problem marked as temporary, to be used while another Pod is ending or has just ended: the
 * waiting Pod may need the port, memory or disk of that Pod. Returns other problems unchanged.
 */
const asMakingRoom = (problem: Problem): Problem =>
  problem.code === 'unschedulable' && !problem.isPassing
    ? { ...problem, isPassing: true, because: 'another Pod of the environment is ending' }
    : problem

/**
 * Returns a scheduling problem marked as temporary, to be used while it is not known what an autoscaler has reported
 * about the Pod. Returns other problems unchanged.
 */
const asUnknown = (problem: Problem): Problem =>
  problem.code === 'unschedulable' ? { ...problem, isPassing: true } : problem

/** Returns the name for the watch of the events that `fields` selects. */
const eventsOf = (fields = ''): string => `Event ${fields}`

function hasNode(pod: KubeObject): boolean {
  const { spec } = pod as unknown as SeenPod // the server has checked its shape
  return spec?.nodeName !== undefined
}

const keyOf = ({ kind, metadata }: KubeObject): string => `${kind}/${metadata.name}`

/**
 * Returns true if a Pod belongs to a workload. A Pod of a Deployment is owned by a ReplicaSet, whose name is the name
 * of the Deployment and a hash without hyphens.
 */
export function belongsTo(pod: KubeObject, workload: KubeObject): boolean {
  const owner = controllerOf(pod)
  if (!owner) return false
  return workload.kind === 'Deployment'
    ? owner.kind === 'ReplicaSet' && owner.name.slice(0, owner.name.lastIndexOf('-')) === workload.metadata.name
    : owner.uid === workload.metadata.uid
}

interface PodSpec {
  readonly volumes?: readonly { readonly persistentVolumeClaim?: { readonly claimName?: string } }[]
}

/** Returns the names of the claims that a Pod mounts. */
export function claimsOf({ spec }: KubeObject): readonly string[] {
  const { volumes = [] } = (spec ?? {}) as PodSpec // a Pod's spec
  return volumes.flatMap(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName ?? [])
}

function hasClaims({ spec }: KubeObject): boolean {
  const { template, volumeClaimTemplates = [] } = (spec ?? {}) as {
    readonly template?: { readonly spec?: PodSpec }
    readonly volumeClaimTemplates?: readonly unknown[]
  } // a workload's spec
  const volumes = template?.spec?.volumes ?? []
  return volumeClaimTemplates.length > 0 || volumes.some(volume => volume.persistentVolumeClaim !== undefined)
}
