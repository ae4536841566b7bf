import type { Cluster } from '../../../adapters/kubernetes/cluster.ts'
import { type OwnedAddress, openNodes, openPods } from '../../records/cluster-addresses.ts'
import { isOutside, type Networks } from '../../records/network-rules.ts'
import { networksAround, uncovered } from '../../rules/networks.ts'
import type { PlatformProblem } from '../../session/platform-problem.ts'
import type { ClusterNetworks } from './cluster-networks.ts'

/** Addresses of the cluster that namespaces, runs and builds can reach although no network policy should allow it. */
export interface OpenAddresses {
  readonly nodes: readonly OwnedAddress[]
  readonly pods: readonly OwnedAddress[]
  /** Networks of Pods and Services, and addresses of the API server. */
  readonly networks: readonly string[]
}

/** Networks in the settings of the installed platform. */
export interface ListedNetworks extends Networks {
  readonly clusterNetworks: readonly string[]
  /** True if an operator has set `clusterNetworks`. An upgrade then does not add the networks that it finds. */
  readonly areNetworksNamed: boolean
}

/** Finds the addresses of the cluster that the network policies do not exclude. */
export async function openAddresses(
  cluster: Cluster,
  { nodes, networks }: ClusterNetworks,
  listed: Networks,
  signal: AbortSignal,
): Promise<OpenAddresses> {
  const open = openNodes(nodes, listed)
  const ofNodes = new Set(open.map(({ address }) => `${address}/32`))
  const pods: OwnedAddress[] = []
  // Lists page by page, because there can be very many Pods.
  for await (const page of cluster.pages({ apiVersion: 'v1', kind: 'Pod' }, { signal }))
    pods.push(...openPods(page, listed))
  return { nodes: open, pods, networks: networks.filter(one => isOutside(one, listed) && !ofNodes.has(one)) }
}

/** Maximum number of addresses in a note. */
const SHOWN = 5

/**
 * Returns the problem that Pods can reach addresses of the cluster, with the command that excludes these addresses.
 * Undefined if there are no such addresses.
 */
export function openProblem(
  { nodes, pods, networks }: OpenAddresses,
  { clusterNetworks: listed, areNetworksNamed }: ListedNetworks,
): PlatformProblem | undefined {
  if (nodes.length + pods.length + networks.length === 0) return undefined
  // The networks that were found through nodes and Services may already contain the addresses of these Pods.
  const left = pods.filter(({ address }) => uncovered([`${address}/32`], networks).length > 0)
  const ofPods = networksAround(left.map(({ address }) => address))
  const all = [...listed, ...nodes.map(({ address }) => `${address}/32`), ...networks, ...ofPods]
  const command = `\`devctl platform install --cluster-networks ${[...new Set(all)].sort().join(',')}\``
  return {
    message: 'namespaces, runs and builds can reach parts of the cluster that its listed networks do not include',
    notes: [
      ...(nodes.length > 0 ? [`nodes: ${shown(nodes)}`] : []),
      ...(pods.length > 0 ? [`Pods: ${shown(pods)}`] : []),
      ...(networks.length > 0 ? [`networks of Pods, Services and the API server: ${networks.join(', ')}`] : []),
    ],
    hint:
      ofPods.length > 0
        ? `${command} excludes them; ${ofPods.join(', ')} ${ofPods.length === 1 ? 'is' : 'are'} derived from the Pods that run now: name the whole network of Pods if you know it`
        : areNetworksNamed
          ? `${command} excludes them`
          : '`devctl platform install` finds and excludes them',
  }
}

function shown(all: readonly OwnedAddress[]): string {
  const first = all.slice(0, SHOWN).map(({ of, address }) => `${address} (\`${of}\`)`)
  return [...first, ...(all.length > SHOWN ? [`and ${all.length - SHOWN} more`] : [])].join(', ')
}
