import type { Change, Cluster, KubeObject } from '../cluster/cluster.ts'
import type { Clock } from './clock.ts'
import { environmentSelector } from './labels.ts'
import { hasStarted, type PodProblem, problemsOf } from './pod-problems.ts'
import { statusOf, type WorkloadStatus } from './status.ts'
import { serviceOf } from './wanted.ts'

/** How a workload is, with the Pods of its newest generation. */
export interface Tracked {
  readonly object: KubeObject
  readonly status: WorkloadStatus
  readonly hasStartedPod: boolean
  readonly pods: readonly KubeObject[]
  readonly problems: readonly PodProblem[]
}

/** Milliseconds that a Pod may be without a node before that counts as a problem: an autoscaler or a claim may take some. */
const SCHEDULING_PATIENCE = 15_000

/**
 * Watches the workloads and Pods of an environment, and tells when something of them changes. Watches begin when something is first asked for, and end
 * with `stop`.
 */
export class Tracker {
  readonly #cluster: Cluster
  readonly #clock: Clock
  readonly #environment: string
  readonly #namespace: string
  readonly #stop = new AbortController()
  readonly #workloads = new Map<string, KubeObject>()
  readonly #pods = new Map<string, KubeObject>()
  readonly #unplacedSince = new Map<string, number>()
  readonly #watched = new Set<string>()
  readonly #listeners = new Set<() => void>()
  #failure: unknown

  constructor(cluster: Cluster, environment: string, namespace: string, clock: Clock) {
    this.#cluster = cluster
    this.#clock = clock
    this.#environment = environment
    this.#namespace = namespace
  }

  /** Resolves when `check` gives something else than undefined for a workload; throws what it throws, what stops a watch, and the signal's reason. */
  async until<T>(
    workload: KubeObject,
    check: (tracked: Tracked | undefined) => T | undefined,
    signal: AbortSignal,
  ): Promise<T> {
    this.#watch('v1', 'Pod')
    this.#watch(workload.apiVersion, workload.kind)
    return new Promise<T>((resolve, reject) => {
      const end = (finish: () => void) => {
        this.#listeners.delete(look)
        signal.removeEventListener('abort', look)
        stopLooking()
        finish()
      }
      const look = () => {
        if (signal.aborted) return end(() => reject(signal.reason))
        if (this.#failure) return end(() => reject(this.#failure))
        try {
          const result = check(this.#tracked(workload))
          if (result !== undefined) end(() => resolve(result))
        } catch (error) {
          end(() => reject(error))
        }
      }
      // What lasts too long is no change that a watch would tell.
      const stopLooking = this.#clock.every(1000, look)
      this.#listeners.add(look)
      signal.addEventListener('abort', look)
      look()
    })
  }

  stop(): void {
    this.#stop.abort()
  }

  /** The newest that is known; undefined while it is older than what was applied. */
  #tracked(workload: KubeObject): Tracked | undefined {
    const object = this.#workloads.get(keyOf(workload))
    if (!object || object.metadata.uid !== workload.metadata.uid) return undefined
    if ((object.metadata.generation ?? 0) < (workload.metadata.generation ?? 0)) return undefined
    const pods = newest(
      [...this.#pods.values()].filter(pod => serviceOf(pod) === serviceOf(object) && belongsTo(pod, object)),
    )
    const now = this.#clock.now()
    const problems = pods
      .flatMap(pod => problemsOf(pod))
      .filter(problem => {
        if (problem.code !== 'unschedulable') return true
        const since = this.#unplacedSince.get(problem.pod) ?? now
        this.#unplacedSince.set(problem.pod, since)
        return now - since >= SCHEDULING_PATIENCE
      })
    return { object, status: statusOf(object), hasStartedPod: pods.some(hasStarted), pods, problems }
  }

  #watch(apiVersion: string, kind: string): void {
    if (this.#watched.has(kind)) return
    this.#watched.add(kind)
    const query = { apiVersion, kind, namespace: this.#namespace, labels: environmentSelector(this.#environment) }
    const objects = kind === 'Pod' ? this.#pods : this.#workloads
    const run = async () => {
      for await (const change of this.#cluster.watch(query, { signal: this.#stop.signal }))
        this.#take(change, kind, objects)
    }
    run().catch(error => {
      if (this.#stop.signal.aborted) return
      this.#failure = error
      this.#tell()
    })
  }

  #take(change: Change, kind: string, objects: Map<string, KubeObject>): void {
    if (change.type === 'Restarted') {
      for (const [key, object] of objects) if (object.kind === kind) objects.delete(key)
      return
    }
    const object = { ...change.object, kind }
    if (change.type === 'Deleted') objects.delete(keyOf(object))
    else objects.set(keyOf(object), object)
    this.#tell()
  }

  #tell(): void {
    for (const listener of [...this.#listeners]) listener()
  }
}

const keyOf = ({ kind, metadata }: KubeObject): string => `${kind}/${metadata.name}`

/** Pods of a Deployment belong to its ReplicaSets, whose names begin with its own. */
function belongsTo(pod: KubeObject, workload: KubeObject): boolean {
  const owner = pod.metadata.ownerReferences?.find(({ controller }) => controller)
  if (!owner) return false
  return workload.kind === 'Deployment'
    ? owner.kind === 'ReplicaSet' && owner.name.startsWith(`${workload.metadata.name}-`)
    : owner.uid === workload.metadata.uid
}

/** The Pods of the youngest revision: what older ones do says nothing about the deploy. */
function newest(pods: readonly KubeObject[]): readonly KubeObject[] {
  const revisionOf = ({ metadata }: KubeObject) =>
    metadata.labels?.['pod-template-hash'] ?? metadata.labels?.['controller-revision-hash'] ?? ''
  const youngest = pods.reduce<KubeObject | undefined>(
    (best, pod) => ((pod.metadata.creationTimestamp ?? '') >= (best?.metadata.creationTimestamp ?? '') ? pod : best),
    undefined,
  )
  return youngest ? pods.filter(pod => revisionOf(pod) === revisionOf(youngest)) : []
}
