import type { CallOptions, Cluster } from '../../adapters/kubernetes/cluster.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { rankOf } from '../../constructs/kinds.ts'
import { inParallel } from '../pool.ts'
import { type DesiredObject, nameOf } from './desired-state.ts'

/**
 * Throws a UserError for an object of a cluster-scoped kind, because all environments of the cluster would share the
 * object. Sends no request for the kinds that devctl itself creates.
 */
export async function refuseClusterKinds(
  cluster: Cluster,
  objects: readonly DesiredObject[],
  options: CallOptions,
): Promise<void> {
  const foreign = objects.filter(({ object }) => rankOf(object.kind) === undefined)
  const resources = await inParallel(foreign, ({ object: { apiVersion, kind } }) =>
    cluster.resource(apiVersion, kind, options),
  )
  for (const [index, { object, source }] of foreign.entries())
    if (resources[index]?.namespaced === false)
      throw new UserError(`${nameOf(object)} is an object of the cluster, not of a namespace`, {
        notes: [`it is in ${source}`],
        hint: 'remove it from `x-kubernetes`, and create it with other tools',
      })
}
