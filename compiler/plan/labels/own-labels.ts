import { diagnostic } from '../../diagnostics/diagnostic.ts'
import { didYouMean } from '../../diagnostics/suggest.ts'
import type { PlanContext } from '../context.ts'
import { type WrittenLabel, writtenLabels } from './written-labels.ts'

const unknownLabel = diagnostic({
  code: 'labels/unknown',
  severity: 'warning',
  explain: `Labels with the prefix \`dev.platform/\` are instructions for devctl. Compose files have two of them:

| label | where | meaning |
|---|---|---|
| \`dev.platform/update\` | \`labels\` of a service | how its Pods are replaced: \`rolling\`, \`recreate\`, \`on-delete\` |
| \`dev.platform/policy\` | \`labels\` and \`deploy.labels\` of a service, \`labels\` of a volume, config, secret or of endpoints | \`keep\`: \`destroy\` and prune leave the objects |

devctl does not read any other; it becomes an annotation.`,
  text: (p: { label: string; hint: string | undefined }) => ({
    message: `unknown devctl label \`${p.label}\``,
    hint: p.hint ?? 'use `dev.platform/update` or `dev.platform/policy`, or a prefix of your own',
  }),
})

const unknownValue = diagnostic({
  code: 'labels/unknown-value',
  severity: 'warning',
  explain:
    'The only value of the label `dev.platform/policy` is `keep`, in lower case: `destroy` and pruning do not delete the object. With any other value the object is deleted like all others.',
  text: (p: { value: string }) => ({
    message: `\`dev.platform/policy: ${p.value}\` has no effect`,
    hint: 'write `keep`, or remove the label',
  }),
})

const misplaced = diagnostic({
  code: 'labels/misplaced',
  severity: 'warning',
  explain: `devctl does not read its label here. \`dev.platform/update\` belongs under \`labels\` of the service; \`dev.platform/policy\` under \`labels\` or \`deploy.labels\` of a service, or under \`labels\` of a volume, config, secret or of endpoints. \`annotations\` are set on the Pods only, which are deleted with their workload.`,
  text: (p: { label: string; service: string | undefined }) => ({
    message: `\`${p.label}\` has no effect here`,
    hint: `move it to ${p.service === undefined ? '`labels` of a service' : `\`services.${p.service}.labels\``}`,
  }),
})

/** Maps each of devctl's own labels to the elements on which devctl reads the label. */
const places: Readonly<Record<string, ReadonlySet<WrittenLabel['on']>>> = {
  'dev.platform/update': new Set(['service']),
  'dev.platform/policy': new Set(['service', 'deploy', 'volume', 'mount', 'config', 'secret', 'endpoints']),
}

/**
 * Reports labels with devctl's own prefix that devctl does not know, and labels on elements for which devctl does not
 * read them.
 */
export function checkOwnLabels({ project, reporter }: Pick<PlanContext, 'project' | 'reporter'>): void {
  for (const { name, value, span, key = span, on, service } of writtenLabels(project)) {
    if (!/^dev\.platform\//i.test(name)) continue
    const read = places[name]
    if (!read) reporter.report(unknownLabel, key, { label: name, hint: didYouMean(name, Object.keys(places)) })
    else if (!read.has(on)) reporter.report(misplaced, key, { label: name, service })
    else if (name === 'dev.platform/policy' && value !== 'keep') reporter.report(unknownValue, span, { value })
  }
}
