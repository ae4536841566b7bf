import { entry, isMap, type MapTree } from '../../text/tree.ts'
import type { Deploy } from '../project.ts'
import type { ReadContext } from './context.ts'
import { checkCount } from './counts.ts'
import { readDuration } from './durations.ts'
import { readLabels } from './labels.ts'
import { integer, items, list, nonEmptyText } from './tree-values.ts'

/** Reads `deploy`, except its resources and restart policy, which have their own readers. */
export function readDeploy(service: MapTree, context: ReadContext): Deploy {
  const found = entry(service, 'deploy')
  const tree = isMap(found?.value) ? found.value : undefined
  return {
    ...(found && tree && { span: found.key }),
    mode: nonEmptyText(tree, 'mode'),
    replicas: integer(tree, 'replicas'),
    endpointMode: nonEmptyText(tree, 'endpoint_mode'),
    labels: readLabels(tree, context),
    constraints: list(tree, 'placement', 'constraints'),
    spread: items(tree, 'placement', 'preferences').flatMap(item => nonEmptyText(item, 'spread') ?? []),
    maxReplicasPerNode: integer(tree, 'placement', 'max_replicas_per_node'),
    update: readUpdate(tree, context),
  }
}

function readUpdate(deploy: MapTree | undefined, { reporter }: ReadContext): Deploy['update'] {
  const found = entry(deploy, 'update_config')
  if (!isMap(found?.value)) return undefined
  return {
    span: found.key,
    parallelism: checkCount(integer(deploy, 'update_config', 'parallelism'), 'parallelism', reporter),
    delay: readDuration(deploy, 'update_config', 'delay'),
    monitor: readDuration(deploy, 'update_config', 'monitor'),
    order: nonEmptyText(deploy, 'update_config', 'order'),
  }
}
