import type { Cluster, KubeObject } from '../../adapters/kubernetes/cluster.ts'
import type { Diagnostic } from '../../compiler/diagnostics/diagnostic.ts'
import type { Tree } from '../../compiler/text/tree.ts'
import type { Clock } from '../clock.ts'
import { type DesiredObject, type DesiredWorkload, serviceOf } from '../plan/desired-state.ts'
import { Tracker } from '../rollout/tracker.ts'
import { explainFailure } from '../status/explain.ts'
import { applyWorkloads } from './apply.ts'
import { beyondWorkloads, endedEarly, failuresIn } from './deploy.ts'
import type { ApplyEvents } from './deploy-run.ts'
import type { Step } from './steps.ts'

export interface WaitForInput {
  readonly cluster: Cluster
  readonly environment: string
  readonly namespace: string
  /** Workloads to wait for; nothing in the cluster is changed. */
  readonly workloads: readonly KubeObject[]
  /** True if the wait continues after a failure, until the workloads are ready or the deadline has passed. */
  readonly toleratesFailures: boolean
  readonly clock: Clock
  readonly events: ApplyEvents
  readonly signal: AbortSignal
}

/**
 * Waits until workloads are ready, and Jobs complete. If workloads fail, throws the same errors as a deploy. Also
 * throws the abort reason of the signal.
 */
export async function waitForWorkloads(input: WaitForInput): Promise<void> {
  const { cluster, environment, namespace, workloads, toleratesFailures, clock, events, signal } = input
  const names = workloads.map(one => serviceOf(one)!)
  const wanted = workloads.map((object): DesiredWorkload => {
    const service = serviceOf(object)!
    return { object, source: '', service, dependencies: [], beside: names.filter(name => name !== service) }
  })
  const steps = new Map(
    wanted.map((one): [DesiredObject, Step] => [one, { action: 'unchanged', wanted: one, live: one.object }]),
  )
  const tracker = new Tracker(cluster, environment, namespace, clock)
  try {
    const run = { cluster, tracker, events, clock, by: '', signal, toleratesFailures }
    await applyWorkloads(run, { environment, namespace, before: [], workloads: wanted, after: [] }, steps, true)
  } finally {
    tracker.stop()
  }
}

/** Workloads that failed to become ready. */
export interface WaitFailures {
  readonly failures: readonly Diagnostic[]
  readonly failedServices: readonly string[]
  /** Abort reason of the deadline; absent unless the deadline ended the wait. */
  readonly ended?: unknown
}

/**
 * Returns explanations of the failed workloads in an error of `waitForWorkloads`. `services` are the services of the
 * Compose file, for the positions. Throws the errors that are not about failed workloads, if there are any.
 */
export async function explainWait(
  cluster: Cluster,
  error: unknown,
  services: Tree | undefined,
  signal: AbortSignal,
): Promise<WaitFailures> {
  const ended = endedEarly(error)
  const failed = ended ? ended.late : failuresIn(error, signal)
  if (!failed) throw beyondWorkloads(error)
  const explained = await Promise.all(failed.map(one => explainFailure(cluster, one, services)))
  const failedServices = failed.map(({ workload }) => workload.service)
  return { failures: explained.flat(), failedServices, ...(ended && { ended: ended.cause }) }
}
