import type { CallOptions, Cluster } from '../../adapters/kubernetes/cluster.ts'
import { KINDS } from '../../constructs/kinds.ts'
import { unlessForbidden } from '../forbidden.ts'
import { ENVIRONMENT_LABEL } from '../labels.ts'
import { inParallel } from '../pool.ts'

/**
 * Returns the names of the environments that have objects in a namespace, including environments with only claims left.
 * Undefined for users without permission to list objects.
 */
export async function environmentsIn(
  cluster: Cluster,
  namespace: string,
  options: CallOptions,
): Promise<ReadonlySet<string> | undefined> {
  const kinds = KINDS.filter(({ isExtra }) => !isExtra)
  const lists = await inParallel(kinds, ({ apiVersion, kind }) =>
    unlessForbidden(cluster.list({ apiVersion, kind, namespace, labels: ENVIRONMENT_LABEL }, options), undefined),
  )
  if (lists.includes(undefined)) return undefined
  return new Set(
    lists.flatMap((list = []) => list.flatMap(({ metadata }) => metadata.labels?.[ENVIRONMENT_LABEL] ?? [])),
  )
}
