import { suggest } from '../../compiler/diagnostics/suggest.ts'
import { parseQuantity } from '../../compiler/values/numbers/quantity.ts'

/** Objects that a ResourceQuota counts by a short name. */
const OBJECTS = [
  'configmaps',
  'persistentvolumeclaims',
  'pods',
  'replicationcontrollers',
  'resourcequotas',
  'secrets',
  'services',
  'services.loadbalancers',
  'services.nodeports',
]

/** The other resources whose names have no group (https://kubernetes.io/docs/concepts/policy/resource-quotas/). */
const RESOURCES = [
  ...['cpu', 'memory', 'ephemeral-storage'].flatMap(one => [one, `requests.${one}`, `limits.${one}`]),
  'requests.storage',
]

/** Pattern of resource names with a group, such as `count/jobs.batch` or `nvidia.com/gpu`. */
const WITH_GROUP = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?\/[A-Za-z0-9]([-\w.]{0,61}[A-Za-z0-9])?$/

/**
 * Returns the reason, as a clause, why the API server refuses a limit of a ResourceQuota; undefined if it accepts the
 * limit.
 */
export function limitProblem(name: string, most: unknown): string | undefined {
  if (!isResource(name)) return `is not a resource of a ResourceQuota: ${nearest(name)}`
  if (typeof most !== 'string') return 'has no limit as text: `"50"` or `"16Gi"`'
  const quantity = parseQuantity(most)
  if (!quantity.ok) return `is \`${most}\`: ${[quantity.reason, quantity.hint ?? []].flat().join(', ')}`
  return isCount(name) && quantity.value.milli % 1000n !== 0n
    ? `is \`${most}\`: it has to be a whole number`
    : undefined
}

function isResource(name: string): boolean {
  const isKnown = [...OBJECTS, ...RESOURCES].includes(name)
  return isKnown || WITH_GROUP.test(name) || /^(requests\.)?hugepages-[0-9A-Za-z]+$/.test(name)
}

/** True for a resource that is counted in whole numbers: objects, and devices such as `nvidia.com/gpu`. */
const isCount = (name: string): boolean =>
  OBJECTS.includes(name) || (name.includes('/') && !/^requests\.|kubernetes\.io\//.test(name))

function nearest(name: string): string {
  const near = suggest(name, [...OBJECTS, ...RESOURCES])
  return near === undefined ? 'write `requests.memory`, `pods` or `count/jobs.batch`' : `write \`${near}\``
}
