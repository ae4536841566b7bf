import type { Cluster, KubeObject } from '../../adapters/kubernetes/cluster.ts'
import type { Diagnostic } from '../../compiler/diagnostics/diagnostic.ts'
import type { Tree } from '../../compiler/text/tree.ts'
import { kindsOf } from '../../constructs/kinds.ts'
import type { Clock } from '../clock.ts'
import { environmentSelector, MANAGER } from '../labels.ts'
import { nameOf, serviceOf } from '../plan/desired-state.ts'
import { inParallel } from '../pool.ts'
import { controllerOf, isDependant } from '../status/owners.ts'
import type { ApplyEvents } from './deploy-run.ts'
import type { Holder } from './held-lease.ts'
import { withLease } from './lease.ts'
import { deleteObject, isEnding } from './removal.ts'
import { explainWait, waitForWorkloads } from './wait-for-workloads.ts'

/**
 * Annotation of a Pod template that makes the controller replace the Pods. `kubectl rollout restart` uses the same
 * annotation, so other tools understand it.
 */
const RESTARTED = 'kubectl.kubernetes.io/restartedAt'
/**
 * Field manager of restarts. It differs from the field manager of deploys, because a deploy removes fields that it has
 * applied earlier and no longer applies.
 */
const RESTARTER = `${MANAGER}-restart`

export interface RestartServicesInput {
  readonly cluster: Cluster
  readonly environment: string
  readonly namespace: string
  readonly holder: Holder
  /**
   * Selects the workloads to restart from all workloads of the environment's services. An error that the function
   * throws stops the restart.
   */
  readonly select: (workloads: readonly KubeObject[]) => readonly KubeObject[]
  /** True to wait until all workloads are ready again. */
  readonly wait: boolean
  /**
   * True if the restart continues to wait after a failure, until the workloads are ready or the deadline has passed.
   */
  readonly toleratesFailures?: boolean
  /** Services of the Compose file, for the positions in error messages. */
  readonly services: Tree | undefined
}

export interface RestartContext {
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly events: ApplyEvents & { locked(holder: string): void }
}

export interface RestartResult {
  /** Services whose Pods are replaced, sorted. */
  readonly restarted: readonly string[]
  /** Errors about workloads that fail to become ready again. */
  readonly failures: readonly Diagnostic[]
  readonly failedServices: readonly string[]
  /** Abort reason of the deadline; absent unless the deadline ended the restart before all workloads were ready. */
  readonly ended?: unknown
}

/**
 * Replaces the Pods of workloads according to their update policy, and changes nothing else, so that the next deploy
 * has nothing to do. Throws a UserError, a ClusterError if the cluster rejects a request, or the signal's abort reason.
 */
export async function restartServices(input: RestartServicesInput, world: RestartContext): Promise<RestartResult> {
  const { cluster, environment, namespace, holder } = input
  const { clock, signal, events } = world
  const chosen = input.select(await workloadsOf(input, signal))
  const restarted = chosen.map(one => serviceOf(one)!).sort()
  if (chosen.length === 0) return { restarted, failures: [], failedServices: [] }
  const lease = { cluster, environment, namespace, holder, clock, signal, waiting: events.locked }
  try {
    await withLease(lease, active => perform(input, world, chosen, active))
    return { restarted, failures: [], failedServices: [] }
  } catch (error) {
    return { restarted, ...(await explainWait(cluster, error, input.services, signal)) }
  }
}

/**
 * Returns the workloads of the environment's services. Workloads created by commands have no service, and are left to
 * the tools that created them.
 */
async function workloadsOf({ cluster, environment, namespace }: RestartServicesInput, signal: AbortSignal) {
  const labels = environmentSelector(environment)
  const lists = await inParallel(kindsOf('workload'), ({ apiVersion, kind }) =>
    cluster.list({ apiVersion, kind, namespace, labels }, { signal }),
  )
  return lists.flat().filter(one => serviceOf(one) !== undefined && !isDependant(one) && !isEnding(one))
}

async function perform(
  { cluster, environment, namespace, wait, toleratesFailures = false }: RestartServicesInput,
  { clock, events }: RestartContext,
  workloads: readonly KubeObject[],
  signal: AbortSignal,
): Promise<void> {
  const at = new Date(clock.now()).toISOString()
  const marked = await inParallel(workloads, async workload => {
    const live = await cluster.apply(markOf(workload, at), { manager: RESTARTER, force: true, signal })
    events.done('update', nameOf(live))
    if (isReplacedByHand(workload)) await deletePods({ cluster, environment, namespace }, workload, events, signal)
    return live
  })
  if (wait)
    await waitForWorkloads({
      ...{ cluster, environment, namespace, toleratesFailures, clock, events, signal },
      workloads: marked,
    })
}

/**
 * Returns the object to apply to a workload: only the annotation and the UID, which prevents a change to a newer object
 * of the same name.
 */
const markOf = ({ apiVersion, kind, metadata: { name, namespace, uid } }: KubeObject, at: string): KubeObject => ({
  apiVersion,
  kind,
  metadata: { name, ...(namespace && { namespace }), ...(uid && { uid }) },
  spec: { template: { metadata: { annotations: { [RESTARTED]: at } } } },
})

/** Returns true if the workload's Pods stay until a user deletes them: update policy `on-delete`. */
function isReplacedByHand({ spec }: KubeObject): boolean {
  const { updateStrategy } = (spec ?? {}) as { readonly updateStrategy?: { readonly type?: string } } // a workload's spec
  return updateStrategy?.type === 'OnDelete'
}

async function deletePods(
  { cluster, environment, namespace }: Pick<RestartServicesInput, 'cluster' | 'environment' | 'namespace'>,
  { metadata: { uid } }: KubeObject,
  events: ApplyEvents,
  signal: AbortSignal,
): Promise<void> {
  const labels = environmentSelector(environment)
  const pods = await cluster.list({ apiVersion: 'v1', kind: 'Pod', namespace, labels }, { signal })
  await inParallel(
    pods.filter(pod => controllerOf(pod)?.uid === uid),
    async pod => {
      if (await deleteObject(cluster, pod, 'Background', { signal })) events.done('delete', nameOf(pod))
    },
  )
}
