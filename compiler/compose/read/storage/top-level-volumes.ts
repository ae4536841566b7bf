import type { Loaded } from '../../load/loaded.ts'
import type { Volume } from '../../project.ts'
import { entries, flag, nonEmptyText, pairs } from '../tree-values.ts'

/** Reads the top-level volumes. The planner interprets driver options. */
export function readVolumes({ tree, namedResources }: Loaded): ReadonlyMap<string, Volume> {
  const volumes = new Map<string, Volume>()
  for (const [key, { key: span, value }] of entries(tree, 'volumes')) {
    const name = namedResources.has(`volumes.${key}`) ? nonEmptyText(value, 'name') : undefined
    volumes.set(key, {
      key,
      ...(name && { name }),
      span,
      external: flag(value, 'external')?.value ?? false,
      driver: nonEmptyText(value, 'driver'),
      driverOpts: pairs(value, ['driver_opts']),
      labels: pairs(value, ['labels'], ''),
    })
  }
  return volumes
}
