import type { MapTree } from '../../text/tree.ts'
import type { Service } from '../project.ts'
import type { ReadContext } from './context.ts'
import { checkCount } from './counts.ts'
import { integer } from './tree-values.ts'

/** Reads `scale` or `deploy.replicas`. The loader has already checked that they are equal and not negative. */
export function readScale(service: MapTree, { reporter }: ReadContext): Service['scale'] {
  // The checks of an autoscaled service have to hold for any number of containers.
  const max = integer(service, 'x-autoscale', 'max')
  if (max) return checkCount(max, 'x-autoscale.max', reporter)
  const scale = integer(service, 'scale')
  if (scale) return checkCount(scale, 'scale', reporter)
  return checkCount(integer(service, 'deploy', 'replicas'), 'deploy.replicas', reporter)
}
