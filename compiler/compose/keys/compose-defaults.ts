import type { AddDefaults } from '../../schema/load-rules.ts'
import { isMap, scalarTree, type Tree, withEntry } from '../../text/tree.ts'
import { scalarText } from '../../text/tree-text.ts'

// Compose's default values, added to the canonical model where a key is absent.

/** The build context defaults to the project folder. */
export const context: AddDefaults = tree => set(tree, 'context', '.')

/** A port is TCP and has the mode `ingress` by default. */
export const port: AddDefaults = tree => set(set(tree, 'protocol', 'tcp'), 'mode', 'ingress')

/** The target of a secret defaults to a file below /run/secrets. */
export const secret: AddDefaults = tree => {
  const source = isMap(tree) ? tree.entries.get('source')?.value : undefined
  return source?.kind === 'scalar' ? set(tree, 'target', `/run/secrets/${scalarText(source)}`) : tree
}

/** A device request without `count` and `device_ids` is for all devices. */
export const deviceRequest: AddDefaults = tree =>
  isMap(tree) && !tree.entries.has('count') && !tree.entries.has('device_ids') ? set(tree, 'count', 'all') : tree

/** A bind mount creates its host path by default. */
export const bind: AddDefaults = tree => set(tree, 'create_host_path', true)

function set(tree: Tree, key: string, value: string | boolean): Tree {
  return isMap(tree) && !tree.entries.has(key) ? withEntry(tree, key, scalarTree(tree.span, value)) : tree
}
