import type { MapTree } from '../../text/tree.ts'
import { isOutsideJobsAndHooks, rulesOf } from '../keys/rules-by-path.ts'
import { rewrite } from './rewrite.ts'

const DEFAULTS = rulesOf('defaults', isOutsideJobsAndHooks)

/** Adds Compose's default values to a canonical model. */
export function withDefaults(model: MapTree): MapTree {
  // `rewrite` returns a mapping for a mapping.
  return rewrite(model, DEFAULTS.start, (complete, tree) => complete(tree)) as MapTree
}
