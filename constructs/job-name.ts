import { createHash } from 'node:crypto'
import { inReadingOrder } from './key-order.ts'
import { type PodTemplate, podTemplateJson } from './pod/newer-fields.ts'

/**
 * Returns the name of a Job, at most 63 characters long: `name` and a hash of everything that cannot change in place,
 * which is the rendered Pod template and the number of completions. New content results in a new Job, so that no
 * immutable field is ever patched. The hash does not depend on the order of labels or annotations.
 */
export function jobName(name: string, template: PodTemplate, completions?: number): string {
  const rendered = JSON.stringify(inReadingOrder(podTemplateJson(template)))
  const once = completions === undefined ? '' : `\n${completions}`
  const hash = createHash('sha256').update(`${rendered}${once}`).digest('hex').slice(0, 8)
  return `${name.slice(0, 63 - 9).replace(/[-.]+$/, '')}-${hash}`
}
