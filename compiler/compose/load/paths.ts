import type { PathBase } from '../../schema/load-rules.ts'
import type { MapTree } from '../../text/tree.ts'
import { isOfService, rulesOf } from '../keys/rules.ts'
import { rewrite } from './rewrite.ts'

const PATHS = rulesOf('path', isOfService)

/** Makes the relative paths of a canonical model absolute. */
export function resolvePaths(model: MapTree, base: PathBase): MapTree {
  return rewrite(model, PATHS.start, (resolve, tree) => resolve(tree, base)) as MapTree // a map stays a map
}
