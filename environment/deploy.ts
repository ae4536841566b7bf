import type { Cluster } from '../cluster/cluster.ts'
import type { Diagnostic } from '../compiler/diagnostics/diagnostic.ts'
import type { Plan } from '../compiler/plan/plan.ts'
import type { Tree } from '../compiler/syntax/tree.ts'
import type { Manifest } from '../constructs/manifest.ts'
import { applyChanges, type DeployEvents, isUpToDate, WorkloadFailed } from './apply.ts'
import { type Changes, planChanges } from './changes.ts'
import type { Clock } from './clock.ts'
import { explainFailure } from './explain.ts'
import { withLease } from './lease.ts'
import { Tracker } from './tracker.ts'
import { nameOf, wantedOf } from './wanted.ts'

export interface DeployInput {
  readonly cluster: Cluster
  readonly plan: Plan
  readonly manifests: readonly Manifest[]
  /** The services of the Compose file, for the places of failures. */
  readonly services: Tree | undefined
  readonly namespace: string
  /** Who deploys, for others who want to: `ann@laptop (4711)`. */
  readonly holder: string
  /** Wait until every workload is ready; else only for what others depend on. */
  readonly wait: boolean
}

export interface DeployWorld {
  readonly clock: Clock
  readonly events: DeployEvents & {
    /** The changes are known, and begin now. */
    planned(changes: Changes): void
  }
  readonly signal: AbortSignal
}

export interface DeployResult {
  /** Nothing had to be done. */
  readonly isUpToDate: boolean
  /** What was deleted, as `deployment/web`. */
  readonly pruned: readonly string[]
  /** Errors about what did not start; empty when all went well. */
  readonly failures: readonly Diagnostic[]
  /** Services that did not get ready, or were not applied for want of what they depend on. */
  readonly failedServices: readonly string[]
}

/**
 * Brings an environment to what its plan says: finds out what differs, and changes only that, while holding the environment's Lease (decisions section 7). Throws a
 * UserError for what the cluster refuses, and the signal's reason when it is aborted.
 */
export async function deployEnvironment(
  input: DeployInput,
  { clock, events, signal }: DeployWorld,
): Promise<DeployResult> {
  const { cluster, plan, manifests, namespace, holder } = input
  const wanted = wantedOf(plan, manifests, namespace)
  const { environment } = wanted
  const changes = await planChanges(cluster, wanted, { signal })
  events.planned(changes)
  const pruned = [...changes.pruneFirst, ...changes.prune].map(nameOf)
  const tracker = new Tracker(cluster, environment, namespace, clock)
  const work = () => applyChanges({ cluster, tracker, clock, events, signal }, wanted, changes, input.wait)
  const upToDate = isUpToDate(changes)
  try {
    if (!upToDate) await withLease(cluster, { environment, namespace, holder }, clock, { signal }, work)
    else if (input.wait) await work()
    return { isUpToDate: upToDate, pruned, failures: [], failedServices: [] }
  } catch (error) {
    const failed = failuresIn(error)
    if (!failed) throw error
    const explained = await Promise.all(failed.map(one => explainFailure(cluster, one, input.services)))
    return {
      isUpToDate: false,
      pruned: [],
      failures: explained.flat(),
      failedServices: failed.map(one => one.workload.service),
    }
  } finally {
    tracker.stop()
  }
}

/** The workloads that failed, each once; undefined when something else went wrong. */
function failuresIn(error: unknown): readonly WorkloadFailed[] | undefined {
  const all = error instanceof AggregateError ? error.errors : [error]
  const byService = new Map<string, WorkloadFailed>()
  for (const one of all) {
    if (!(one instanceof WorkloadFailed)) return undefined
    if (!byService.has(one.workload.service)) byService.set(one.workload.service, one)
  }
  return [...byService.values()]
}
