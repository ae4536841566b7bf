import { isWithin, NEVER_OUTSIDE, NOT_PUBLIC, outermost, uncovered } from '../rules/networks.ts'

/** Rules that several NetworkPolicies share. */

export const namespaceNamed = (name: string) => ({ matchLabels: { 'kubernetes.io/metadata.name': name } })

/**
 * The cluster's DNS: Pods, or a cache on the node, which has a link-local address. Policies apply to the ports of Pods,
 * which for DNS may differ from those of the Service.
 */
export const toDns = {
  to: [
    ...['kube-system', 'openshift-dns'].map(name => ({ namespaceSelector: namespaceNamed(name) })),
    { ipBlock: { cidr: '169.254.0.0/16' } },
  ],
  ports: [53, 5353, 8053].flatMap(port => [
    { protocol: 'UDP', port },
    { protocol: 'TCP', port },
  ]),
}

/** Networks of the settings, as `10.42.0.0/16`. */
export interface Networks {
  /** Networks of the cluster itself. */
  readonly clusterNetworks?: readonly string[]
  /** Private networks that Pods may reach nevertheless. */
  readonly privateNetworks?: readonly string[]
}

/**
 * The way out of the cluster: to public addresses, and to private networks that the settings name. It leads to no
 * address of the cluster's networks, and to no link-local one.
 */
export function toOutside(networks: Networks) {
  const closed = closedOf(networks)
  const opened = outermost(uncovered(networks.privateNetworks ?? [], closed)).map(cidr => ({
    cidr,
    ...notEmpty(outermost(closed.filter(one => isWithin(one, cidr)))),
  }))
  const blocks = [{ cidr: '0.0.0.0/0', except: outermost([...NOT_PUBLIC, ...closed]) }, ...opened]
  return { to: blocks.map(ipBlock => ({ ipBlock })) }
}

/** True if that way out leads to an address of a network. */
export function isOutside(network: string, networks: Networks): boolean {
  if (uncovered([network], closedOf(networks)).length === 0) return false
  const isPublic = uncovered([network], NOT_PUBLIC).length > 0
  return isPublic || (networks.privateNetworks ?? []).some(one => isWithin(one, network) || isWithin(network, one))
}

/** The networks to which no way out leads, whatever is opened. */
const closedOf = ({ clusterNetworks = [] }: Networks): readonly string[] => [...NEVER_OUTSIDE, ...clusterNetworks]

const notEmpty = (except: readonly string[]) => (except.length > 0 ? { except } : {})
