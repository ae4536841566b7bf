import type { Pair, Service } from '../../compose/project.ts'
import { checkAnnotationSize } from '../../compose/read/annotation-size.ts'
import { diagnostic } from '../../diagnostics/diagnostic.ts'
import { isAnnotationKey } from '../../values/annotation.ts'
import type { PlanContext } from '../context.ts'

const badKey = diagnostic({
  code: 'labels/bad-key',
  severity: 'warning',
  loss: true,
  explain: `Labels become annotations in Kubernetes. The key of an annotation is \`[PREFIX/]NAME\`: the name has at most 63 letters, digits, \`-\`, \`_\` and \`.\`, and begins and ends with a letter or digit; the prefix is a DNS name. The label is left out.`,
  text: (p: { key: string }) => ({
    message: `\`${p.key}\` is not a valid annotation key and is left out`,
    hint: 'use letters, digits, `-`, `_` and `.`, at most 63 characters, with an optional `host.name/` prefix',
  }),
})

type Annotations = Readonly<Record<string, string>>

/**
 * Converts labels to annotations, sorted by key; returns undefined if there are none. Reports keys that Kubernetes
 * would refuse.
 */
export function toAnnotations(
  { reporter }: Pick<PlanContext, 'reporter'>,
  ...lists: (readonly Pair[])[]
): Annotations | undefined {
  const found = new Map<string, Pair>()
  for (const label of lists.flat()) {
    const { name, span, key = span } = label
    if (!isAnnotationKey(name)) reporter.report(badKey, key, { key: name })
    else if (!found.has(name)) found.set(name, label)
  }
  if (found.size === 0) return undefined
  const sorted = [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
  checkAnnotationSize(reporter, 'labels', sorted)
  return Object.fromEntries(sorted.map(({ name, value }) => [name, value]))
}

/** Returns the annotations of a service's own objects: the labels of the service. */
export const serviceAnnotations = (context: PlanContext, service: Service): Annotations | undefined =>
  toAnnotations(context, service.labels)

/**
 * Returns the annotations of a workload: the labels and `deploy.labels` of its services; if they differ, the first
 * service wins.
 */
export const workloadAnnotations = (context: PlanContext, services: readonly Service[]): Annotations | undefined =>
  toAnnotations(context, ...services.flatMap(service => [service.labels, service.deploy.labels]))

/**
 * Returns the annotations of a Pod template: `annotations` and the labels, without devctl's own labels, because
 * changing those must not restart Pods.
 */
export const templateAnnotations = (context: PlanContext, services: readonly Service[]): Annotations | undefined =>
  toAnnotations(
    context,
    ...services.flatMap(service => [
      service.annotations,
      service.labels.filter(({ name }) => !name.startsWith('dev.platform/')),
    ]),
  )
