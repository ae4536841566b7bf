import type { Reporter } from '../../../diagnostics/reporter.ts'
import { reportToken } from '../../../text/interpolate.ts'
import type { Span } from '../../../text/source.ts'
import { get, isMap, isNull, isScalar, type MapTree, type Tree } from '../../../text/tree.ts'
import { scalarText } from '../../../text/tree-text.ts'

/**
 * Reports positions in a document that import a devctl token by its name alone, such as `environment: [DEVCTL_TOKEN]`.
 */
export function reportTokenNames(document: MapTree, reporter: Reporter): void {
  const report = (name: string, span: Span) => reportToken(name, span, reporter)
  const namesWithoutValue = (tree: Tree | undefined) => {
    if (isMap(tree)) for (const [name, { key, value }] of tree.entries) if (isNull(value)) report(name, key)
    if (tree?.kind === 'seq') for (const item of tree.items) if (isScalar(item)) report(scalarText(item), item.span)
  }
  for (const service of membersOf(document, 'services')) {
    namesWithoutValue(get(service, 'environment'))
    namesWithoutValue(get(service, 'build', 'args'))
  }
  for (const section of ['configs', 'secrets'])
    for (const one of membersOf(document, section)) {
      const name = get(one, 'environment')
      if (isScalar(name)) report(scalarText(name), name.span)
    }
}

function membersOf(document: MapTree, section: string): readonly Tree[] {
  const all = get(document, section)
  return isMap(all) ? [...all.entries.values()].map(({ value }) => value) : []
}
