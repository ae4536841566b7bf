import type { Loaded } from '../load/loaded.ts'
import type { Network } from '../project.ts'
import { entries, filledText, flag, pairs } from './tree-values.ts'

/** Reads the top-level networks, with `default` if a service uses it. */
export function readNetworks({ tree }: Loaded): ReadonlyMap<string, Network> {
  const networks = new Map<string, Network>()
  for (const [key, { key: span, value }] of entries(tree, 'networks'))
    networks.set(key, {
      key,
      name: filledText(value, 'name')?.value ?? key,
      span,
      external: flag(value, 'external')?.value ?? false,
      internal: flag(value, 'internal')?.value ?? false,
      driver: filledText(value, 'driver'),
      labels: pairs(value, ['labels'], ''),
    })
  return networks
}
