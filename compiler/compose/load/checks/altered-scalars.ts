import type { Reporter } from '../../../diagnostics/reporter.ts'
import { reportAlteredScalar } from '../../../text/altered-scalars.ts'
import { isMap, type MapTree, type Tree } from '../../../text/tree.ts'
import { valuesAt } from '../../../text/values-at.ts'
import { servicesAndJobs } from '../service-sections.ts'

const toPaths = (...paths: readonly string[]) => paths.map(path => path.split('.'))

/** Keys of a service whose values are mappings with text values. */
const TEXT_MAPS = toPaths(
  'environment',
  'labels',
  'annotations',
  'sysctls',
  'build.args',
  'build.labels',
  'deploy.labels',
  'pre_start.*.environment',
  'post_start.*.environment',
  'pre_stop.*.environment',
  'develop.watch.*.exec.environment',
  'volumes.*.volume.labels',
  'ports.*.x-expose.annotations',
  'x-node-selector',
)

/** Mappings with text values outside services. */
const OTHER_TEXT_MAPS = toPaths(
  'endpoints.labels',
  'endpoints.*.labels',
  'networks.*.labels',
  'volumes.*.labels',
  'secrets.*.labels',
  'configs.*.labels',
)

/** Warns about unquoted numbers and dates in text values if YAML would change their notation. */
export function reportAlteredScalars(model: MapTree, reporter: Reporter): void {
  for (const [, service] of servicesAndJobs(model)) for (const path of TEXT_MAPS) checkAt(service, path, reporter)
  for (const path of OTHER_TEXT_MAPS) checkAt(model, path, reporter)
}

function checkAt(tree: Tree, path: readonly string[], reporter: Reporter): void {
  for (const map of valuesAt(tree, path))
    if (isMap(map)) for (const { value } of map.entries.values()) reportAlteredScalar(value, reporter)
}
