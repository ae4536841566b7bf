import type { MapTree } from '../../text/tree.ts'
import { isOfServiceItself, rulesOf } from '../keys/rules.ts'
import { rewrite } from './rewrite.ts'

const DEFAULTS = rulesOf('defaults', isOfServiceItself)

/** Adds Compose's default values to a canonical model. */
export function withDefaults(model: MapTree): MapTree {
  return rewrite(model, DEFAULTS.start, (complete, tree) => complete(tree)) as MapTree // a map stays a map
}
