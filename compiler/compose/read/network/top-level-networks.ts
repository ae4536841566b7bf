import type { Loaded } from '../../load/loaded.ts'
import type { Network } from '../../project.ts'
import { entries, flag, nonEmptyText, pairs } from '../tree-values.ts'

/** Reads the top-level networks, including `default` if a service uses it. */
export function readNetworks({ tree }: Loaded): ReadonlyMap<string, Network> {
  const networks = new Map<string, Network>()
  for (const [key, { key: span, value }] of entries(tree, 'networks')) {
    const external = flag(value, 'external')?.value ?? false
    networks.set(key, {
      key,
      name: nonEmptyText(value, 'name')?.value ?? (external ? key : undefined),
      span,
      external,
      internal: flag(value, 'internal')?.value ?? false,
      driver: nonEmptyText(value, 'driver'),
      labels: pairs(value, ['labels'], ''),
    })
  }
  return networks
}
