import type { Identity } from '../../schema/load-rules.ts'
import type { MapTree, Tree } from '../../text/tree.ts'
import { keepLast } from '../keys/identities.ts'
import { isOutsideHooks, rulesOf } from '../keys/rules-by-path.ts'
import { rewrite } from './rewrite.ts'

const IDENTITIES = rulesOf('identity', isOutsideHooks)

/** Keeps the last of several list items with the same identity. Applies to lists whose key has an identity rule. */
export function removeDuplicates(model: MapTree): MapTree {
  return rewrite(model, IDENTITIES.start, withoutDuplicates) as MapTree // a map stays a map
}

function withoutDuplicates(identity: Identity, tree: Tree): Tree {
  if (tree.kind !== 'seq') return tree
  const items = keepLast(tree.items, identity)
  return items === tree.items ? tree : { ...tree, items }
}
