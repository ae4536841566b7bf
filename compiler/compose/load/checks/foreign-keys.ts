import { get, isMap, type MapTree, type Tree } from '../../../text/tree.ts'
import { scalarText } from '../../../text/tree-text.ts'
import type { Pair } from '../../project.ts'

/**
 * Lists the `x-okteto…` extensions of a model, its services and their healthchecks. devctl ignores these extensions.
 * Leaves out extensions that `devctl migrate` has copied to an `x-platform-…` key of the same mapping.
 */
export function foreignKeys(model: MapTree): readonly Pair[] {
  const services = get(model, 'services')
  return [
    ...extensionsOf(model),
    ...(isMap(services) ? [...services.entries.values()] : []).flatMap(({ value }) => [
      ...extensionsOf(value),
      ...extensionsOf(get(value, 'healthcheck')),
    ]),
  ]
}

function extensionsOf(tree: Tree | undefined): readonly Pair[] {
  if (!isMap(tree)) return []
  return [...tree.entries]
    .filter(([name]) => name.startsWith('x-okteto') && !tree.entries.has(name.replace(/^x-okteto-/, 'x-platform-')))
    .map(([name, { key, value }]) => ({ name, value: value.kind === 'scalar' ? scalarText(value) : '…', span: key }))
}
