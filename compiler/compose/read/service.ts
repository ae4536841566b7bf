import type { MapTree } from '../../text/tree.ts'
import type { Service } from '../project.ts'
import { readCapabilities } from './capabilities.ts'
import type { ReadContext } from './context.ts'
import { readDependencies } from './depends-on.ts'
import { readDeploy } from './deploy.ts'
import { readDevices } from './devices.ts'
import { readServiceEnvironment } from './environment.ts'
import { readFileMounts } from './file-mounts.ts'
import { readHealthcheck } from './healthcheck.ts'
import { readImage } from './image.ts'
import { readLabels } from './labels.ts'
import { readLifecycle } from './lifecycle.ts'
import { readModelUses } from './models.ts'
import { readNetworks } from './networks.ts'
import { readPorts } from './ports.ts'
import { readProcess } from './process.ts'
import { readResources } from './resources.ts'
import { readRestart } from './restart.ts'
import { readScale } from './scale.ts'
import { readScheduling } from './scheduling.ts'
import { readSecurity } from './security.ts'
import { checkTargets } from './targets.ts'
import { flag, map } from './tree-values.ts'
import { readVolumes } from './volumes.ts'

/** A service of the canonical tree as a typed value: each family of fields is read by its own module. */
export function readService(tree: MapTree, context: ReadContext): Service {
  const service: Service = {
    name: context.service,
    span: context.span,
    tree,
    ...readImage(tree, context),
    ...readProcess(tree),
    ...readServiceEnvironment(tree, context),
    ...readLabels(tree, context),
    ...readLifecycle(tree, context),
    healthcheck: readHealthcheck(tree, context),
    restart: readRestart(tree, context),
    ...readScale(tree, context),
    ...readDependencies(tree, context),
    ...readPorts(tree, context),
    ...readNetworks(tree, context),
    ...readVolumes(tree, context),
    ...readFileMounts(tree, context),
    ...readResources(tree, context),
    ...readDevices(tree, context),
    ...readScheduling(tree, context),
    ...readDeploy(tree, context),
    ...readCapabilities(tree, context),
    ...readSecurity(tree, context),
    attach: flag(tree, 'attach')?.value ?? true,
    develop: map(tree, 'develop'),
    ...readModelUses(tree),
  }
  checkTargets(service, context)
  return service
}
