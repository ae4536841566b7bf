import type { AddDefaults } from '../../schema/load-rules.ts'
import { isMap, scalarTree, type Tree, withEntry } from '../../text/tree.ts'
import { scalarText } from '../../text/tree-text.ts'

// Compose's own defaults, put where a canonical model says nothing.

/** The context of a build is the folder of the file. */
export const context: AddDefaults = tree => set(tree, 'context', '.')

export const port: AddDefaults = tree => set(set(tree, 'protocol', 'tcp'), 'mode', 'ingress')

/** A secret is a file below /run/secrets. */
export const secret: AddDefaults = tree => {
  const source = isMap(tree) ? tree.entries.get('source')?.value : undefined
  return source?.kind === 'scalar' ? set(tree, 'target', `/run/secrets/${scalarText(source)}`) : tree
}

/** A request for devices that says neither how many nor which is for all. */
export const deviceRequest: AddDefaults = tree =>
  isMap(tree) && !tree.entries.has('count') && !tree.entries.has('device_ids') ? set(tree, 'count', 'all') : tree

export const bind: AddDefaults = tree => set(tree, 'create_host_path', true)

function set(tree: Tree, key: string, value: string | boolean): Tree {
  return isMap(tree) && !tree.entries.has(key) ? withEntry(tree, key, scalarTree(tree.span, value)) : tree
}
