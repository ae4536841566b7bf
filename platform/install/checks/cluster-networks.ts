import { isIP, isIPv4 } from 'node:net'
import { type Cluster, ClusterError, type KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import { UsageError } from '../../../compiler/diagnostics/user-error.ts'
import { nodeAddresses } from '../../records/cluster-addresses.ts'
import { NEVER_OUTSIDE, NOT_PUBLIC, toNetwork, twoMeanings, uncovered } from '../../rules/networks.ts'
import type { NetworkAddress } from '../manifests/server.ts'

type Fields = Readonly<Record<string, unknown>>

/** The nodes of a cluster, and its networks. */
export interface ClusterNetworks {
  readonly nodes: readonly KubeObject[]
  /** IPv4 networks of the cluster itself: its Pods, Services and nodes, and its API server. */
  readonly networks: readonly string[]
}

/**
 * Finds the nodes and networks of a cluster. Pods in namespaces of the platform cannot reach these networks, unless the
 * network policies of their namespace allow it.
 */
export async function clusterNetworks(cluster: Cluster, signal: AbortSignal): Promise<ClusterNetworks> {
  const options = { signal }
  const [nodes, services, behind] = await Promise.all([
    cluster.list({ apiVersion: 'v1', kind: 'Node' }, options),
    serviceNetworks(cluster, signal),
    behindApiServer(cluster, signal),
  ])
  const found = [
    ...nodes.flatMap(node => {
      const { podCIDRs = [], podCIDR } = (node['spec'] ?? {}) as { podCIDRs?: readonly string[]; podCIDR?: string } // a Node's
      return [...podCIDRs, ...(podCIDR ? [podCIDR] : []), ...nodeAddresses(node)]
    }),
    ...services,
    ...behind.map(({ address }) => address),
  ]
  return { nodes, networks: [...new Set(found.flatMap(toNetwork))].sort() }
}

/**
 * Returns the addresses at which Pods reach the API server: the address of its Service, and the endpoints to which that
 * address is translated.
 */
export async function apiServerAddresses(cluster: Cluster, signal: AbortSignal): Promise<readonly NetworkAddress[]> {
  const [service, behind] = await Promise.all([
    cluster.get({ apiVersion: 'v1', kind: 'Service', name: API_SERVER, namespace: 'default' }, { signal }),
    behindApiServer(cluster, signal),
  ])
  const { clusterIP = '', ports = [] } = (service?.['spec'] ?? {}) as ServiceSpec
  return [...ports.map(({ port }) => ({ address: clusterIP, port })), ...behind]
    .filter(({ address }) => isIP(address) > 0)
    .map(({ address, port }) => ({ cidr: `${address}/${isIPv4(address) ? 32 : 128}`, port }))
}

/** The Service of the API server, in `default`. */
const API_SERVER = 'kubernetes'

interface ServiceSpec {
  readonly clusterIP?: string
  readonly ports?: readonly { readonly port: number }[]
}

async function behindApiServer(cluster: Cluster, signal: AbortSignal) {
  const query = { apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', namespace: 'default' }
  const slices = (await cluster.list(query, { signal })).filter(
    ({ metadata }) => metadata.labels?.['kubernetes.io/service-name'] === API_SERVER,
  )
  return slices.flatMap(slice => {
    const { endpoints, ports } = slice as unknown as Slice
    const addresses = (endpoints ?? []).flatMap(one => one.addresses ?? [])
    return addresses.flatMap(address => (ports ?? [{}]).map(({ port = 443 }) => ({ address, port })))
  })
}

/** Part of an EndpointSlice, as Kubernetes defines it. */
interface Slice {
  readonly endpoints?: readonly { readonly addresses?: readonly string[] }[] | null
  readonly ports?: readonly { readonly port?: number }[] | null
}

/** Parses the networks of an option, separated by commas. Throws a UsageError, with the example in its hint. */
export function readNetworks(text: string, example: string): readonly string[] {
  return text.split(',').flatMap(one => {
    const found = toNetwork(one.trim())
    if (found.length === 0)
      throw new UsageError(`\`${one}\` is not an IPv4 network`, {
        hint: `write \`${example}\`, with commas between several`,
      })
    const meanings = found.map(twoMeanings).find(Boolean)
    if (meanings)
      throw new UsageError(`\`${one}\` is not a network, but an address in one`, {
        hint: `write ${meanings.map(text => `\`${text}\``).join(' or ')}`,
      })
    return found
  })
}

/**
 * Parses the private networks that `--private-networks` opens; none for `-`. Throws a UsageError for public networks,
 * which are always open, and for addresses that belong to a node, which are never opened.
 */
export function readPrivateNetworks(text: string): readonly string[] {
  if (text === '-') return []
  const networks = readNetworks(text, '10.20.0.0/16')
  const never = networks.find(one => uncovered([one], NEVER_OUTSIDE).length === 0)
  if (never !== undefined)
    throw new UsageError(`\`--private-networks\` cannot open \`${never}\``, {
      hint: 'such addresses belong to a node, and may lead to its credentials; leave it out',
    })
  const [open] = uncovered(networks, NOT_PUBLIC)
  if (open === undefined) return networks
  throw new UsageError(`\`--private-networks\`: \`${open}\` is no private network`, {
    hint: 'public addresses are open as they are; name networks such as `10.20.0.0/16`',
  })
}

/**
 * True for a value that can be a trusted proxy: an IP address, or a network other than `/0`, which would trust every
 * client.
 */
export function isProxy(text: string): boolean {
  const [address = '', length, more] = text.split('/')
  const most = { 0: 0, 4: 32, 6: 128 }[isIP(address)] ?? 0
  const isLength = length === undefined || (/^\d{1,3}$/.test(length) && Number(length) >= 1 && Number(length) <= most)
  return most > 0 && isLength && more === undefined
}

/**
 * Returns the networks of Services from the ServiceCIDR objects, which newer clusters have. In older clusters, reads
 * them from the error for a Service whose address is outside the range.
 */
async function serviceNetworks(cluster: Cluster, signal: AbortSignal): Promise<readonly string[]> {
  const objects = await cluster.list({ apiVersion: 'networking.k8s.io/v1', kind: 'ServiceCIDR' }, { signal })
  const found = objects.flatMap(({ spec }) => ((spec ?? {}) as { cidrs?: readonly string[] }).cidrs ?? []) // a ServiceCIDR's
  if (found.length > 0) return found
  const spec: Fields = { clusterIP: '192.0.2.1', ports: [{ port: 80, protocol: 'TCP' }] }
  const service: KubeObject = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'devctl-asks-for-the-range', namespace: 'default' },
    spec,
  }
  try {
    await cluster.apply(service, { manager: 'devctl', dryRun: true, signal })
  } catch (error) {
    if (!(error instanceof ClusterError) || error.failure !== 'invalid') throw error
    return rangesIn(error.message)
  }
  return []
}

/**
 * Returns the networks in an error message such as `provided IP is not in the valid range. The range of valid IPs is
 * 10.96.0.0/16`.
 */
export const rangesIn = (message: string): readonly string[] =>
  /valid IPs (?:is|are) ([\d./, ]+)/.exec(message)?.[1]?.split(/[, ]+/).filter(Boolean) ?? []
