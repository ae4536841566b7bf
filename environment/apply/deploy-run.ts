import type { Cluster, KubeObject } from '../../adapters/kubernetes/cluster.ts'
import type { Clock } from '../clock.ts'
import type { WorkloadStatus } from '../rollout/status.ts'
import type { Tracker } from '../rollout/tracker.ts'

export interface DeployRun {
  readonly cluster: Cluster
  readonly tracker: Tracker
  readonly events: ApplyEvents
  readonly clock: Clock
  /** The user who deploys. */
  readonly by: string
  /** Aborted at the deadline, or by Ctrl-C. */
  readonly signal: AbortSignal
  /** True if failures end no wait: every wait lasts until its condition is met or the deadline has passed. */
  readonly toleratesFailures?: boolean
}

/** The events of a running deploy. */
export interface ApplyEvents {
  /** An object was written, or deleted. */
  done(action: 'create' | 'update' | 'replace' | 'delete', object: string): void
  /** An object is being deleted, to be made again or to make room. */
  deleting?(object: string): void
  /** A workload waits for others. */
  waiting(service: string, needs: readonly string[]): void
  /** A workload has another status. */
  status(service: string, status: WorkloadStatus): void
  /** Called when a workload has been applied; its status is reported later, when the deploy waits for it. */
  applied(service: string): void
  /** Called when a route has been applied. */
  routed(route: KubeObject): void
  /**
   * Called when all workloads are ready and these are watched for some more time: the only sign that they work is that
   * they keep running.
   */
  watching(services: readonly string[]): void
  /** The end of an object that is being deleted is waited for. */
  ending?(object: KubeObject): void
}
