import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { type EnvironmentInput, findWorkloads, servicesOf } from '../../containers/workloads/find-workloads.ts'
import { scaledFrom } from '../../environment/apply/scaled.ts'
import { explainWait, waitForWorkloads } from '../../environment/apply/wait-for-workloads.ts'
import type { OpenProject } from '../../project/opened-project.ts'
import type { OperationContext } from '../../project/session.ts'
import { type Tolerance, toleratesFailures } from '../../project/tolerance.ts'
import { deployEvents } from '../deploy/progress.ts'

export interface WaitInput extends EnvironmentInput, Tolerance {
  /** Services to wait for. If absent or empty, all services. */
  readonly services?: readonly string[] | undefined
}

export interface WaitOutcome {
  /** Name of the environment, a DNS label. */
  readonly environment: string
  readonly namespace: string
  /** Services that were waited for. */
  readonly services: readonly string[]
  /** Services that failed to become ready; the problems were reported. */
  readonly failed: readonly string[]
  readonly milliseconds: number
}

/**
 * Waits until services are ready, and Jobs complete. Reports why a service fails, as a deploy does, as soon as waiting
 * cannot help. Changes nothing. Throws a UserError for services that `stop` has stopped.
 */
export async function wait(world: OperationContext, input: WaitInput, project: OpenProject): Promise<WaitOutcome> {
  const { session, on } = world
  const { cluster, namespace, clock, signal } = session
  const began = clock.now()
  const { known, chosen } = await findWorkloads(world, input, input.services ?? [], project)
  refuseStopped(chosen)
  const states = { events: { planned() {}, applied() {}, status() {} } }
  const clocked = { now: () => clock.now(), waits: true, deadline: session.deadline }
  const { planned: _, ...events } = deployEvents(on, states, () => {}, clocked)
  const waiting = {
    ...{ cluster, environment: known.name, namespace, workloads: chosen, clock, events, signal },
    toleratesFailures: toleratesFailures(world.workspace, input),
  }
  const found = await waitForWorkloads(waiting).then(
    () => undefined,
    (error: unknown) => explainWait(cluster, error, known.services, signal),
  )
  if (found) on({ type: 'diagnostics', diagnostics: found.failures })
  if (found?.ended !== undefined) throw found.ended
  return {
    environment: known.name,
    namespace,
    services: servicesOf(chosen),
    failed: found?.failedServices ?? [],
    milliseconds: clock.now() - began,
  }
}

/**
 * True for a service that `stop` has stopped. False for a service whose files set no replicas; the command does not
 * wait for such a service.
 */
function isStopped(workload: KubeObject): boolean {
  const from = scaledFrom(workload)
  return from?.start !== undefined && from.replicas > 0
}

function refuseStopped(workloads: readonly KubeObject[]): void {
  const stopped = servicesOf(workloads.filter(isStopped))
  if (stopped.length === 0) return
  throw new UserError(`${stopped.map(one => `\`${one}\``).join(', ')} ${stopped.length === 1 ? 'is' : 'are'} stopped`, {
    hint: `\`devctl start ${stopped.join(' ')}\` starts ${stopped.length === 1 ? 'it' : 'them'}`,
  })
}
