import {
  type CallOptions,
  type Cluster,
  ClusterError,
  type KubeObject,
  type ObjectRef,
} from '../../adapters/kubernetes/cluster.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { isEnding } from '../apply/removal.ts'
import { environmentSelector } from '../labels.ts'
import { inParallel } from '../pool.ts'

/** Error for objects of a deploy that were deleted before the deploy ended. */
export class ObjectsMissing extends UserError {
  constructor(objects: readonly ObjectRef[]) {
    const names = objects.map(({ kind, name }) => `\`${kind.toLowerCase()}/${name}\``)
    const [last] = names.slice(-1)
    const subject = names.length > 1 ? `${names.slice(0, -1).join(', ')} and ${last} were` : `${last} was`
    super(`${subject} deleted while the deploy ran`, {
      hint: `\`devctl deploy\` creates ${names.length > 1 ? 'them' : 'it'} again`,
    })
  }
}

/**
 * Throws ObjectsMissing for objects of an environment that do not exist, or are being deleted. Sends one list request
 * per kind and namespace; requests an object individually only if the list does not contain it, for example because the
 * object has lost its label. Ignores kinds that the user may not list.
 */
export async function refuseDeleted(
  cluster: Cluster,
  environment: string,
  objects: readonly ObjectRef[],
  options: CallOptions,
): Promise<void> {
  const missing = await inParallel(byKind(objects), group => missingOf(cluster, environment, group, options))
  const deleted = missing.flat()
  if (deleted.length > 0) throw new ObjectsMissing(deleted)
}

async function missingOf(
  cluster: Cluster,
  environment: string,
  group: readonly ObjectRef[],
  options: CallOptions,
): Promise<readonly ObjectRef[]> {
  const { apiVersion, kind, namespace } = group[0]! // no group is empty
  const query = { apiVersion, kind, ...(namespace !== undefined && { namespace }) }
  try {
    const found = await cluster.list({ ...query, labels: environmentSelector(environment) }, options)
    const there = new Set(found.filter(isStaying).map(({ metadata }) => metadata.name))
    const left = group.filter(({ name }) => !there.has(name))
    const live = await inParallel(left, one => cluster.get(one, options))
    return left.filter((_, index) => !isStaying(live[index]))
  } catch (error) {
    if (error instanceof ClusterError && error.failure === 'forbidden') return []
    throw error
  }
}

const isStaying = (object: KubeObject | undefined): boolean => object !== undefined && !isEnding(object)

function byKind(objects: readonly ObjectRef[]): readonly (readonly ObjectRef[])[] {
  const groups = new Map<string, ObjectRef[]>()
  for (const one of objects) {
    const key = `${one.apiVersion} ${one.kind} ${one.namespace}`
    groups.set(key, [...(groups.get(key) ?? []), one])
  }
  return [...groups.values()]
}
