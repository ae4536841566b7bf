import { diagnostic } from '../diagnostics/diagnostic.ts'
import type { Pair, Service } from '../project/project.ts'
import { isAnnotationKey } from '../values/annotation.ts'
import type { PlanContext } from './context.ts'

const badKey = diagnostic({
  code: 'labels/bad-key',
  severity: 'warning',
  loss: true,
  explain: `Labels become annotations in Kubernetes, whose keys are stricter than Compose's: \`[PREFIX/]NAME\`, where the name has at most 63 letters, digits, \`-\`, \`_\` and \`.\`, begins and ends with a letter or digit, and the prefix is a host name. The label is left out.`,
  text: (p: { key: string }) => ({
    message: `\`${p.key}\` cannot be the key of an annotation, and is left out`,
    hint: 'use letters, digits, `-`, `_` and `.`, at most 63 of them, with an optional `host.name/` before them',
  }),
})

type Annotations = Readonly<Record<string, string>>

/** Labels as annotations, sorted by key; undefined when there are none. Reports keys that Kubernetes would refuse. */
export function toAnnotations(
  { reporter }: Pick<PlanContext, 'reporter'>,
  ...lists: (readonly Pair[])[]
): Annotations | undefined {
  const found = new Map<string, string>()
  for (const { name, value, span, key = span } of lists.flat()) {
    if (!isAnnotationKey(name)) reporter.report(badKey, key, { key: name })
    else if (!found.has(name)) found.set(name, value)
  }
  if (found.size === 0) return undefined
  return Object.fromEntries([...found].sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** Annotations of what belongs to a service: its labels (decisions, "Labels"). */
export const serviceAnnotations = (context: PlanContext, service: Service): Annotations | undefined =>
  toAnnotations(context, service.labels)

/**
 * Annotations of a workload: the labels and `deploy.labels` of its services; where they differ, the first service's
 * hold.
 */
export const workloadAnnotations = (context: PlanContext, services: readonly Service[]): Annotations | undefined =>
  toAnnotations(context, ...services.flatMap(service => [service.labels, service.deploy.labels]))

/** Annotations of a Pod template: `annotations` and the labels, without our own, whose change must not restart Pods. */
export const templateAnnotations = (context: PlanContext, services: readonly Service[]): Annotations | undefined =>
  toAnnotations(
    context,
    ...services.flatMap(service => [
      service.annotations,
      service.labels.filter(({ name }) => !name.startsWith('dev.platform/')),
    ]),
  )
