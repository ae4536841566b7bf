import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { isProtection } from '../../compiler/values/kubernetes/keep.ts'

/** Returns true if an annotation protects the object from prune and destroy. */
export const keepsItself = ({ metadata }: KubeObject): boolean =>
  Object.entries(metadata.annotations ?? {}).some(([name, value]) => isProtection(name, value))
