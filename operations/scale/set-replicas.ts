import { ClusterError, type KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { withLease } from '../../environment/apply/lease.ts'
import { setReplicas } from '../../environment/apply/scaled.ts'
import { unlessForbidden } from '../../environment/forbidden.ts'
import { autoscaledBy } from '../../environment/plan/autoscaled.ts'
import { nameOf, serviceOf } from '../../environment/plan/desired-state.ts'
import { isManagedByArgoCd, isManagedByFlux } from '../../environment/plan/managed-by.ts'
import { inParallel } from '../../environment/pool.ts'
import { isTaken } from '../../environment/record/up-record.ts'
import type { OperationContext, Session } from '../../project/session.ts'
import { sleeps } from '../ensure-namespace.ts'

/** Workload, and the number of replicas that it gets. */
export interface Scaling {
  readonly workload: KubeObject
  readonly replicas: number
}

/**
 * Sets the replicas of workloads while no deploy runs. Throws a UserError for a workload that a development container
 * of `up` has replaced, and if a platform has put the namespace to sleep.
 */
export async function applyScalings(
  world: OperationContext,
  environment: string,
  scalings: readonly Scaling[],
): Promise<void> {
  const { session, on } = world
  const { cluster, namespace, clock, holder, signal } = session
  if (scalings.length === 0) return
  for (const { workload } of scalings) refuseTaken(workload)
  if (await sleeps(session))
    throw new UserError(`the namespace ${namespace} sleeps`, {
      hint: `\`devctl namespace wake ${namespace}\` wakes it`,
    })
  const waiting = (other: string) => on({ type: 'note', text: `waiting for ${other}, who deploys ${environment}` })
  await withLease({ cluster, environment, namespace, holder, clock, signal, waiting }, async active => {
    await inParallel(scalings, async ({ workload, replicas }) => {
      await setReplicas(cluster, workload, replicas, { signal: active }).catch(error => refuseChanged(error, workload))
      on({ type: 'object', action: 'update', object: nameOf(workload) })
    })
  })
  for (const { workload } of scalings) {
    const tool = isManagedByFlux(workload) ? 'Flux' : isManagedByArgoCd(workload) ? 'Argo CD' : undefined
    if (tool)
      on({ type: 'warning', text: `${tool} applies \`${nameOf(workload)}\` from git, and may undo this at any time` })
  }
}

function refuseTaken(workload: KubeObject): void {
  if (isTaken(workload))
    throw new UserError(`\`${serviceOf(workload)}\` is in development: \`devctl up\` has taken its place`, {
      hint: '`devctl down` ends the development container',
    })
}

function refuseChanged(error: unknown, workload: KubeObject): never {
  if (error instanceof ClusterError && error.failure === 'conflict')
    throw new UserError(`\`${nameOf(workload)}\` has changed in the meantime`, { hint: 'try again', cause: error })
  throw error
}

/** Returns the workloads of the namespace, as `KIND/NAME`, whose number of Pods an autoscaler sets. */
export async function autoscaledWorkloads({ cluster, namespace, signal }: Session): Promise<ReadonlySet<string>> {
  const query = { apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler', namespace }
  return autoscaledBy(await unlessForbidden(cluster.list(query, { signal }), []))
}
