import type { Service } from '../project/project.ts'
import type { MapTree } from '../syntax/tree.ts'
import { integer, toInt32 } from './tree-values.ts'

/** `scale` and `deploy.replicas`; the loader has made sure that they agree and are not negative. */
export function readScale(service: MapTree): Pick<Service, 'scale'> {
  const count = integer(service, 'scale') ?? integer(service, 'deploy', 'replicas')
  return { scale: count && { value: toInt32(count.value), span: count.span } }
}
