import { createHash } from 'node:crypto'
import { inReadingOrder } from './key-order.ts'
import { type PodTemplate, podTemplateJson } from './pod/newer-fields.ts'

/**
 * The name of a Job: `name` and a hash of all that cannot change in place, at most 63 characters:
 * its rendered Pod template, and how many Pods have to complete. New content is a new Job, so
 * nothing immutable is ever patched. The hash does not depend on the order in which labels or
 * annotations were given.
 */
export function jobName(name: string, template: PodTemplate, completions?: number): string {
  const rendered = JSON.stringify(inReadingOrder(podTemplateJson(template)))
  const once = completions === undefined ? '' : `\n${completions}`
  const hash = createHash('sha256').update(`${rendered}${once}`).digest('hex').slice(0, 8)
  return `${name.slice(0, 63 - 9).replace(/[-.]+$/, '')}-${hash}`
}
