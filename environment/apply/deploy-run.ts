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
  /** True if failures end no wait: all waits last until what they wait for is there, or until the deadline. */
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
  /**
   * A workload is in the cluster as it is wanted; how it is comes later, where it is waited for.
   */
  applied(service: string): void
  /** A route is in the cluster as it is wanted. */
  routed(route: KubeObject): void
  /**
   * All are ready, and these are watched for some more time: nothing says that they work but that
   * they go on running.
   */
  watching(services: readonly string[]): void
  /** The end of an object that is being deleted is waited for. */
  ending?(object: KubeObject): void
}
