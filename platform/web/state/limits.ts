import type { NamespaceLimit } from '../../api/namespaces.ts'
import { bytes } from './bytes.ts'

/** Names of the limits that are always shown, in this order. Other limits are shown when they are nearly used up. */
const USUAL: ReadonlyMap<string, string> = new Map([
  ['requests.cpu', 'CPU requests'],
  ['requests.memory', 'Memory requests'],
  ['limits.memory', 'Memory limits'],
  ['requests.storage', 'Volumes'],
  ['pods', 'Pods'],
])

/** Names for display of resources in a ResourceQuota. */
const NAMES: ReadonlyMap<string, string> = new Map([
  ...USUAL,
  ['requests.ephemeral-storage', 'Disk requests'],
  ['limits.ephemeral-storage', 'Disk limits'],
  ['services', 'Services'],
  ['count/pods', 'Pods, with ended ones'],
])

/** Share of a limit from which it counts as nearly used up. */
const NEAR = 0.8

export interface ShownLimit {
  readonly resource: string
  readonly name: string
  /** Usage and limit, such as `1.5 of 8 cores`. */
  readonly amount: string
  readonly share: number
  readonly warning?: { readonly word: 'full' | 'nearly full'; readonly tone: 'bad' | 'warn' }
}

/** Returns the limits to show: the usual ones, and others that are nearly used up. */
export function shownLimits(limits: readonly NamespaceLimit[]): readonly ShownLimit[] {
  const usual = [...USUAL.keys()].flatMap(resource => limits.find(one => one.resource === resource) ?? [])
  const near = limits.filter(one => !USUAL.has(one.resource) && one.used / one.most >= NEAR)
  return [...usual, ...near].map(({ resource, unit, used, most }) => {
    const share = used / most
    const number = { cores: rounded, bytes, objects: String }[unit]
    return {
      resource,
      name: NAMES.get(resource) ?? resource.replace(/^count\//, ''),
      amount: `${number(used)} of ${number(most)}${unit === 'cores' ? ' cores' : ''}`,
      share,
      ...(share >= 1 && { warning: { word: 'full', tone: 'bad' } }),
      ...(share >= NEAR && share < 1 && { warning: { word: 'nearly full', tone: 'warn' } }),
    }
  })
}

const rounded = (cores: number): string => String(Math.round(cores * 100) / 100)
