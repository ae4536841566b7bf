import type { MapTree } from '../../text/tree.ts'
import type { Service } from '../project.ts'
import type { ReadContext } from './context.ts'
import { checkCount } from './counts.ts'
import { integer } from './tree-values.ts'

/** `scale` and `deploy.replicas`; the loader has made sure that they agree and are not negative. */
export function readScale(service: MapTree, { reporter }: ReadContext): Service['scale'] {
  const scale = integer(service, 'scale')
  if (scale) return checkCount(scale, 'scale', reporter)
  return checkCount(integer(service, 'deploy', 'replicas'), 'deploy.replicas', reporter)
}
