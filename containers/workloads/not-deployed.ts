import { didYouMean } from '../../compiler/diagnostics/suggest.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { environmentsIn } from '../../environment/status/known-environments.ts'
import { requireNamespace } from '../../project/namespaces.ts'
import type { OperationContext } from '../../project/session.ts'

type Session = OperationContext['session']

/**
 * Returns true if an environment has a record or a workload. An environment that a GitOps controller applies has only
 * workloads.
 */
export async function isDeployed(
  { cluster, namespace, clock, signal }: Session,
  environment: string,
): Promise<boolean> {
  const { overviewOf } = await import('../../environment/status/overview.ts')
  const { services, record } = await overviewOf(cluster, { environment, namespace, now: clock.now() }, { signal })
  return services.length > 0 || record !== undefined
}

/** Throws a UserError if nothing of an environment is deployed. */
export async function requireDeployed(session: Session, environment: string): Promise<void> {
  if (!(await isDeployed(session, environment))) throw await notDeployed(session, environment)
}

/**
 * Returns the error for an environment of which nothing is deployed. The hint suggests an environment with a similar
 * name or, if there is none, `devctl deploy`. Throws a UserError if the namespace does not exist.
 */
export async function notDeployed(session: Session, environment: string): Promise<UserError> {
  const { cluster, namespace, signal } = session
  await requireNamespace(session)
  const others = await environmentsIn(cluster, namespace, { signal })
  return new UserError(`${environment} is not deployed in ${namespace}`, {
    hint: didYouMean(environment, others ?? []) ?? '`devctl deploy` deploys it',
  })
}
