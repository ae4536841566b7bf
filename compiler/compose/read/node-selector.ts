import { diagnostic } from '../../diagnostics/diagnostic.ts'
import type { MapTree } from '../../text/tree.ts'
import { isLabelKey, isLabelValue } from '../../values/annotation.ts'
import type { Pair } from '../project.ts'
import type { ReadContext } from './context.ts'
import { entries, pairs } from './tree-values.ts'

const badNodeLabel = diagnostic({
  code: 'scheduling/bad-node-label',
  severity: 'error',
  explain: `\`x-node-selector\` is a mapping of labels that a node must have. The key is \`[PREFIX/]NAME\`; name and value have at most 63 letters, digits, \`-\`, \`_\` and \`.\`, and begin and end with a letter or digit.

\`\`\`yaml
x-node-selector:
  kubernetes.io/arch: arm64
  disk: ssd
\`\`\``,
  text: (p: { what: string; text: string }) => ({ message: `\`${p.text}\` is not a valid ${p.what} of a node label` }),
})

/** Reads `x-node-selector`. Reports invalid label names and values. */
export function readNodeSelector(service: MapTree, { reporter }: ReadContext): readonly Pair[] {
  const wrong = new Set<string>()
  for (const [label, { key, value }] of entries(service, 'x-node-selector')) {
    if (!isLabelKey(label)) {
      reporter.report(badNodeLabel, key, { what: 'name', text: label })
      wrong.add(label)
    }
    const text = value.kind === 'scalar' ? String(value.value ?? '') : ''
    if (value.kind !== 'scalar' || !isLabelValue(text)) {
      reporter.report(badNodeLabel, value.span, { what: 'value', text })
      wrong.add(label)
    }
  }
  const nodeSelector: readonly Pair[] = pairs(service, ['x-node-selector'], '')
  return wrong.size === 0 ? nodeSelector : nodeSelector.filter(({ name }) => !wrong.has(name))
}
