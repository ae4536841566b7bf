import type { MapTree } from '../../text/tree.ts'
import { isOfServiceItself, rulesOf } from '../keys/rules.ts'
import { rewrite } from './rewrite.ts'

const DEFAULTS = rulesOf('defaults', isOfServiceItself)

/** Puts Compose's own defaults where a canonical model says nothing. */
export function withDefaults(model: MapTree): MapTree {
  return rewrite(model, DEFAULTS.start, (complete, tree) => complete(tree)) as MapTree // a map stays a map
}
