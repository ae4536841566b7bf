import type { Service } from '../../compose/project.ts'
import type { PlanContext } from '../context.ts'
import { planDevices } from '../pod/devices.ts'
import type { PodFacts } from '../pod/pod.ts'
import { planVolumes } from './claims.ts'
import { planFiles } from './files.ts'
import { reportUnversioned } from './host-volumes.ts'
import { checkShared } from './memory-volumes.ts'
import { checkIncomplete, planMounts, surveyMounts } from './mounts.ts'
import { joinFolders } from './projected.ts'
import { shareConfigMaps } from './shared-config-maps.ts'

/**
 * Plans the mounts of all services, each once: volumes, devices, configs and secrets. Also plans the variables whose
 * values are configs and secrets.
 */
export function planAllMounts(
  context: PlanContext,
  services: readonly Service[],
): Pick<PodFacts, 'mountsOf' | 'variablesOf'> {
  const volumes = planVolumes(context)
  const mounts = surveyMounts(context, volumes)
  checkShared(context, volume => volumes.get(volume)?.kind === 'memory')
  const files = planFiles(context)
  const found = new Map(
    services.map(service => {
      context.reporter.budget.checkTime(service.span)
      const own = [...planMounts(mounts, service), ...planDevices(context, service), ...files.mounts(service)]
      return [service.name, joinFolders(own)]
    }),
  )
  checkIncomplete(mounts)
  reportUnversioned(context, mounts.hosts)
  const shared = shareConfigMaps(context, found)
  const variables = new Map(
    services.map(service => [
      service.name,
      files.variables(service).map(one => ('config' in one ? { ...one, config: shared.keyOf(one.config) } : one)),
    ]),
  )
  return {
    mountsOf: ({ name }) => shared.mounts.get(name) ?? [],
    variablesOf: ({ name }) => variables.get(name) ?? [],
  }
}
