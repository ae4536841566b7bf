import type { Cluster, KubeObject } from '../../adapters/kubernetes/cluster.ts'
import type { Clock } from '../clock.ts'
import type { WorkloadStatus } from '../rollout/status.ts'
import type { Tracker } from '../rollout/tracker.ts'

export interface DeployRun {
  readonly cluster: Cluster
  readonly tracker: Tracker
  readonly events: ApplyEvents
  readonly clock: Clock
  /** User who deploys. */
  readonly by: string
  /** Aborted at the deadline or by Ctrl-C. */
  readonly signal: AbortSignal
  /** True if a failure does not end a wait: every wait lasts until its condition is met or the deadline has passed. */
  readonly toleratesFailures?: boolean
}

/** The events of a running deploy. */
export interface ApplyEvents {
  /** Called when an object has been written or deleted. */
  done(action: 'create' | 'update' | 'replace' | 'delete', object: string): void
  /** Called when the deletion of an object starts, either to recreate the object or to make room for another. */
  deleting?(object: string): void
  /** Called when a workload starts to wait for other workloads. */
  waiting(service: string, needs: readonly string[]): void
  /** Called when the status of a workload changes. */
  status(service: string, status: WorkloadStatus): void
  /**
   * Called when a workload has been applied. The status of the workload is reported later, when the deploy waits for
   * it.
   */
  applied(service: string): void
  /** Called when a route has been applied. */
  routed(route: KubeObject): void
  /**
   * Called when all workloads are ready, but the listed services have to keep running a little longer, because nothing
   * else shows yet that they work.
   */
  watching(services: readonly string[]): void
  /** Called when the deploy waits for the deletion of an object to finish. */
  ending?(object: KubeObject): void
}
