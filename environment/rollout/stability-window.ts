import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { lastingContainers } from '../../constructs/manifest.ts'
import { isEnding } from '../apply/removal.ts'

/**
 * Milliseconds that a container without a readiness probe has to run before dependent workloads are applied. Kubernetes
 * considers such a container ready the moment it starts, even if it exits again at once.
 */
const SETTLED = 3000

/**
 * Milliseconds that a container without a readiness probe has to run before `--wait` ends. Most programs that cannot
 * work exit within that time, and a longer time would only delay programs that work.
 */
const STABLE = 4000

/**
 * Limits in milliseconds for a container that has exited before: it has to run twice as long as its longest run, within
 * these limits.
 */
const STABLE_AFTER_END = { least: 10_000, most: 60_000 }

/**
 * Limits for slow nodes. A kubelet usually reports a start within the same second (`usual`, in milliseconds). A kubelet
 * that needs longer also reports exits later, so the container has to run longer: by the delay multiplied by `times`,
 * but at most by `most` milliseconds.
 */
const DELAYS = { usual: 1000, times: 2, most: 30_000 }

interface ContainerSpec {
  readonly name: string
  readonly readinessProbe?: unknown
  readonly startupProbe?: unknown
}
interface ContainerStatus {
  readonly name: string
  readonly restartCount: number
  readonly state?: { readonly running?: { readonly startedAt?: string } }
  readonly lastState?: { readonly terminated?: Ended }
}
interface Ended {
  readonly startedAt?: string | null
  readonly finishedAt?: string | null
}
interface Pod {
  readonly spec?: { readonly containers?: readonly ContainerSpec[]; readonly initContainers?: readonly ContainerSpec[] }
  readonly status?: {
    readonly phase?: string
    readonly containerStatuses?: readonly ContainerStatus[]
    readonly initContainerStatuses?: readonly ContainerStatus[]
    readonly conditions?: readonly {
      readonly type: string
      readonly status: string
      readonly lastTransitionTime?: string
    }[]
  }
}

/** Measures how long containers have run, with the local clock, because the cluster's clock may differ. */
export class StabilityWindow {
  /**
   * Time from which each run of a container counts, in milliseconds since 1970: usually when the run was first seen.
   */
  readonly #since = new Map<string, number>()
  /** Longest known completed run of each container, in milliseconds. */
  readonly #longest = new Map<string, number>()

  /**
   * Records a Pod. `isFirst` is true if the Pod existed before the watch started, so that only its status shows how
   * long it has run.
   */
  see(pod: KubeObject, now: number, isFirst: boolean): void {
    for (const { container, run, status } of containersOf(pod)) {
      const ended = status.lastState?.terminated
      if (ended) this.#longest.set(container, Math.max(this.#longest.get(container) ?? 0, lengthOf(ended)))
      const startedAt = startOf(status)
      if (startedAt === undefined || this.#since.has(run)) continue
      this.#since.set(run, isFirst && now - startedAt >= SETTLED ? startedAt : now)
    }
  }

  /**
   * Returns true if every container of the Pod without a readiness probe has run for long enough that other workloads
   * may rely on it.
   */
  isSettled(pod: KubeObject, now: number): boolean {
    return containersOf(pod).every(one => one.isProbed || this.#hasRun(one, now, SETTLED + delayOf(pod)))
  }

  /**
   * Returns true if the Pod is expected to keep running: containers without a readiness probe have run for `STABLE`.
   * Containers that have exited before have run for twice their longest run (see `STABLE_AFTER_END`), whatever their
   * probes report.
   */
  isStable(pod: KubeObject, now: number): boolean {
    return containersOf(pod).every(one => {
      const longest = this.#longest.get(one.container)
      if (longest !== undefined)
        return this.#hasRun(one, now, Math.min(STABLE_AFTER_END.most, Math.max(STABLE_AFTER_END.least, 2 * longest)))
      return one.isProbed ? startOf(one.status) !== undefined : this.#hasRun(one, now, STABLE + delayOf(pod))
    })
  }

  #hasRun({ run, status }: Container, now: number, milliseconds: number): boolean {
    return startOf(status) !== undefined && now - (this.#since.get(run) ?? now) >= milliseconds
  }
}

interface Container {
  readonly container: string
  /** Identifier of one run of the container. */
  readonly run: string
  readonly status: ContainerStatus
  readonly isProbed: boolean
}

/**
 * Returns the containers that have to keep running: regular containers and sidecars, which are init containers that are
 * always restarted. Returns an empty list for a Pod that has ended or is ending.
 */
function containersOf(pod: KubeObject): readonly Container[] {
  const { spec, status } = pod as unknown as Pod // the server has checked its shape
  if (isOver(pod)) return []
  const specs = new Map(lastingContainers(spec ?? {}).map(one => [one.name, one]))
  return [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])].flatMap(one => {
    const spec = specs.get(one.name)
    if (!spec) return []
    const container = `${pod.metadata.uid}/${one.name}`
    const isProbed = (spec.readinessProbe ?? spec.startupProbe) !== undefined
    return { container, run: `${container}/${one.restartCount}`, status: one, isProbed }
  })
}

/**
 * Returns how many milliseconds longer the containers of a Pod have to run because its node is slow: by the node's
 * clock, the Pod became ready long after its containers started. Zero for a Pod with probes, because the probes decide
 * when the Pod is ready.
 */
function delayOf(pod: KubeObject): number {
  const containers = containersOf(pod)
  if (containers.some(({ isProbed }) => isProbed)) return 0
  const { conditions = [] } = (pod as unknown as Pod).status ?? {} // the server has checked its shape
  const ready = conditions.find(({ type, status }) => type === 'ContainersReady' && status === 'True')
  const started = Math.max(...containers.map(({ status }) => startOf(status) || Number.NaN))
  const delay = Date.parse(ready?.lastTransitionTime ?? '') - started
  return delay > DELAYS.usual ? Math.min(DELAYS.most, DELAYS.times * delay) : 0
}

/** Returns true if a Pod is being deleted, was evicted, or has finished: other Pods replace it. */
function isOver(pod: KubeObject): boolean {
  const { phase } = (pod['status'] ?? {}) as { readonly phase?: string } // a Pod's status
  return isEnding(pod) || phase === 'Failed' || phase === 'Succeeded'
}

const lengthOf = ({ startedAt, finishedAt }: Ended): number =>
  Math.max(0, Date.parse(finishedAt ?? '') - Date.parse(startedAt ?? '') || 0)

const startOf = ({ state }: ContainerStatus): number | undefined =>
  state?.running && (Date.parse(state.running.startedAt ?? '') || 0)
