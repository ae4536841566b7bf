import { parseQuantity } from '../../compiler/values/numbers/quantity.ts'

/** Limit of a resource in a namespace, and its usage. */
export interface Limit {
  /** Name of the resource in the ResourceQuota, such as `requests.cpu`, `pods`, `count/secrets`. */
  readonly resource: string
  readonly unit: 'cores' | 'bytes' | 'objects'
  readonly used: number
  readonly most: number
}

/** Status of a ResourceQuota. The fields are absent until the usage has been counted. */
export interface QuotaStatus {
  readonly hard?: Readonly<Record<string, unknown>>
  readonly used?: Readonly<Record<string, unknown>>
}

/**
 * Returns the limits that ResourceQuotas set in a namespace, with the usage of each, sorted by name. If several quotas
 * limit the same resource, returns the limit with the smallest unused amount. Omits limits of zero, and quantities that
 * cannot be parsed (https://kubernetes.io/docs/concepts/policy/resource-quotas/).
 */
export function limitsOf(quotas: readonly QuotaStatus[]): readonly Limit[] {
  const tightest = new Map<string, Limit>()
  for (const { hard = {}, used = {} } of quotas) {
    for (const [resource, value] of Object.entries(hard)) {
      const most = toNumber(value)
      const now = toNumber(used[resource] ?? '0')
      if (most === undefined || now === undefined || most === 0) continue
      const there = tightest.get(resource)
      if (there && there.most - there.used <= most - now) continue
      tightest.set(resource, { resource, unit: unitOf(resource), used: now, most })
    }
  }
  return [...tightest.values()].sort((a, b) => (a.resource < b.resource ? -1 : 1))
}

function toNumber(value: unknown): number | undefined {
  const parsed = parseQuantity(String(value))
  return parsed.ok ? Number(parsed.value.milli) / 1000 : undefined
}

/** Returns the unit of a resource. `gold.storageclass.storage.k8s.io/requests.storage` is also an amount of storage. */
function unitOf(resource: string): Limit['unit'] {
  const last = resource.slice(resource.lastIndexOf('/') + 1)
  if (resource.startsWith('count/')) return 'objects'
  if (/^((requests|limits)\.)?cpu$/.test(last)) return 'cores'
  return /^((requests|limits)\.)?(memory|storage|ephemeral-storage|hugepages-.*)$/.test(last) ? 'bytes' : 'objects'
}
