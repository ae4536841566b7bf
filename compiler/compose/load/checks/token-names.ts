import type { Reporter } from '../../../diagnostics/reporter.ts'
import { reportToken } from '../../../text/interpolate.ts'
import type { Span } from '../../../text/source.ts'
import { isMap, isNull, isScalar, isSeq, type MapTree, type Tree } from '../../../text/tree.ts'
import { scalarText } from '../../../text/tree-text.ts'
import { valuesAt } from '../../../text/values-at.ts'
import { servicesAndJobs } from '../service-sections.ts'

/** Keys of a service whose entries without a value have the value of the variable with their name. */
const NAMES = [
  'environment',
  'build.args',
  'pre_start.*.environment',
  'post_start.*.environment',
  'pre_stop.*.environment',
  'develop.watch.*.exec.environment',
].map(path => path.split('.'))

/**
 * Reports positions in a document that import a devctl token by its name alone, such as `environment: [DEVCTL_TOKEN]`.
 */
export function reportTokenNames(document: MapTree, reporter: Reporter): void {
  const report = (name: string, span: Span) => reportToken(name, span, reporter)
  const namesWithoutValue = (tree: Tree) => {
    if (isMap(tree)) for (const [name, { key, value }] of tree.entries) if (isNull(value)) report(name, key)
    if (isSeq(tree)) for (const item of tree.items) if (isScalar(item)) report(scalarText(item), item.span)
  }
  for (const [, service] of servicesAndJobs(document))
    for (const path of NAMES) for (const tree of valuesAt(service, path)) namesWithoutValue(tree)
  for (const section of ['configs', 'secrets'])
    for (const name of valuesAt(document, [section, '*', 'environment']))
      if (isScalar(name)) report(scalarText(name), name.span)
}
