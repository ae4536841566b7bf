import type { AddDefaults } from '../../schema/load-rules.ts'
import { isMap, scalarTree, type Tree, withEntry } from '../../text/tree.ts'
import { scalarText } from '../../text/tree-text.ts'

// Compose's default values, added to the canonical model if a key is absent.

/** Sets the default build context: the project folder. */
export const context: AddDefaults = tree => set(tree, 'context', '.')

/** Sets the default protocol (TCP) and mode (`ingress`) of a port. */
export const port: AddDefaults = tree => set(set(tree, 'protocol', 'tcp'), 'mode', 'ingress')

/** Sets the default target of a secret: a file below /run/secrets. */
export const secret: AddDefaults = tree => {
  const source = isMap(tree) ? tree.entries.get('source')?.value : undefined
  return source?.kind === 'scalar' ? set(tree, 'target', `/run/secrets/${scalarText(source)}`) : tree
}

/** Requests all devices if a device request has neither `count` nor `device_ids`. */
export const deviceRequest: AddDefaults = tree =>
  isMap(tree) && !tree.entries.has('count') && !tree.entries.has('device_ids') ? set(tree, 'count', 'all') : tree

/** Lets a bind mount create its host path by default. */
export const bind: AddDefaults = tree => set(tree, 'create_host_path', true)

function set(tree: Tree, key: string, value: string | boolean): Tree {
  return isMap(tree) && !tree.entries.has(key) ? withEntry(tree, key, scalarTree(tree.span, value)) : tree
}
