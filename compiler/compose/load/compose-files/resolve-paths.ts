import type { PathBase } from '../../../schema/load-rules.ts'
import type { MapTree } from '../../../text/tree.ts'
import { rulesOf } from '../../keys/rules-by-path.ts'
import { rewrite } from '../rewrite.ts'

const PATHS = rulesOf('path')

/** Makes the relative paths of a canonical model absolute. */
export function resolvePaths(model: MapTree, base: PathBase): MapTree {
  // `rewrite` returns a mapping for a mapping.
  return rewrite(model, PATHS.start, (resolve, tree) => resolve(tree, base)) as MapTree
}
