import { diagnostic } from '../../diagnostics/diagnostic.ts'
import type { Tree } from '../../text/tree.ts'
import type { Pair } from '../project.ts'
import type { ReadContext } from './context.ts'
import { entries, pairs } from './tree-values.ts'

const reserved = diagnostic({
  code: 'labels/reserved',
  severity: 'error',
  explain:
    'The label `com.docker.compose`, and labels that start with `com.docker.compose.`, are reserved: Compose sets them itself and refuses them in a file. Remove the label, or use a prefix of your own.',
  text: (p: { label: string }) => ({
    message: `the label \`${p.label}\` is reserved for Compose`,
    hint: 'remove it, or use a prefix of your own',
  }),
})

/**
 * Reads `labels` of a service (including `label_file`) or of `deploy`. Reports labels that are reserved for Compose.
 */
export function readLabels(owner: Tree | undefined, { reporter }: Pick<ReadContext, 'reporter'>): readonly Pair[] {
  for (const [label, { key }] of entries(owner, 'labels'))
    if (/^com\.docker\.compose(?:\.|$)/.test(label)) reporter.report(reserved, key, { label })
  return pairs(owner, ['labels'], '')
}
