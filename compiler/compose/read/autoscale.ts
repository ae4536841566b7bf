import { diagnostic } from '../../diagnostics/diagnostic.ts'
import type { At } from '../../text/source.ts'
import type { MapTree } from '../../text/tree.ts'
import type { Autoscale } from '../project.ts'
import type { ReadContext } from './context.ts'
import { integer, keySpan, map, scalar } from './tree-values.ts'

const badAutoscale = diagnostic({
  code: 'autoscale/bad-value',
  severity: 'error',
  explain: `\`x-autoscale\` sets the number of Pods between \`min\` (default 1) and \`max\`, so that the Pods use on average the given part of the CPU time or memory that they request. At least one of \`cpu\` and \`memory\` is needed.

\`\`\`yaml
x-autoscale: {min: 2, max: 10, cpu: 70%}
\`\`\``,
  text: (p: { message: string; hint: string }) => p,
})

/** Reads `x-autoscale`. Reports bounds that contradict each other, and a missing target. */
export function readAutoscale(service: MapTree, { reporter }: ReadContext): Autoscale | undefined {
  const tree = map(service, 'x-autoscale')
  const max = integer(tree, 'max')
  // The check of shapes has reported a missing maximum.
  if (!tree || !max) return undefined
  const span = keySpan(service, 'x-autoscale') ?? tree.span
  const min = integer(tree, 'min') ?? { value: 1, span }
  const [cpu, memory] = [percent(tree, 'cpu'), percent(tree, 'memory')]
  if (min.value > max.value) {
    const message = `\`min\` is ${min.value}, and \`max\` is ${max.value}`
    reporter.report(badAutoscale, min.span, { message, hint: '`min` must not be larger than `max`' })
  }
  if (!cpu && !memory)
    reporter.report(badAutoscale, span, {
      message: '`x-autoscale` has no `cpu` and no `memory`, so nothing decides about the number of Pods',
      hint: 'add the part of the requested CPU time that the Pods should use: `cpu: 70%`',
    })
  const scale = scalar(service, 'scale') ?? scalar(service, 'deploy', 'replicas')
  return {
    ...{ span, min: min.value, max: max.value },
    ...(cpu && { cpu }),
    ...(memory && { memory }),
    ...(scale && { scale: scale.span }),
  }
}

/** Returns a percentage, which is written with or without the percent sign; undefined if the key is absent. */
function percent(tree: MapTree, key: string): At<number> | undefined {
  const found = scalar(tree, key)
  return found && { value: Number(String(found.value).replace('%', '')), span: found.span }
}
