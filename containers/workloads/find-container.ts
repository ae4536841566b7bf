import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { isTaken } from '../../environment/record/up-record.ts'
import { findServiceContainer, type ServiceContainer } from '../../environment/status/service-pods.ts'
import type { OpenProject } from '../../project/opened-project.ts'
import type { OperationContext } from '../../project/session.ts'
import { type EnvironmentInput, findWorkloads } from './find-workloads.ts'

export interface ContainerInput extends EnvironmentInput {
  /** Service name in the files. */
  readonly service: string
  /** Number of the Pod, from 1. If absent, any Pod, preferably a ready one. */
  readonly index?: number | undefined
  /** Name of the container. If absent, the container of the service. */
  readonly container?: string | undefined
}

/**
 * Returns a running container of a deployed service. Throws a UserError if the service is not deployed, if none of its
 * Pods runs, and if a development container stands in for it.
 */
export async function findContainer(
  world: OperationContext,
  { service: word, index, container, ...input }: ContainerInput,
  project: OpenProject,
): Promise<ServiceContainer> {
  const { cluster, namespace, signal } = world.session
  const { known, chosen, leads } = await findWorkloads(world, input, [word], project)
  const [[service, lead]] = [...leads] as [[string, string]] // of the one service that is named
  if (chosen.every(isTaken))
    throw new UserError(`\`${word}\` is in development: \`devctl up\` has taken its place`, {
      hint: '`devctl exec -- COMMAND` runs a command in the development container',
    })
  const [workload] = chosen
  const query = { environment: known.name, namespace, service, lead, index, container, kind: workload?.kind }
  return findServiceContainer(cluster, query, { signal })
}
