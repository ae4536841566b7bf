import { isWithin, NEVER_OUTSIDE, NOT_PUBLIC, outermost, uncovered } from '../rules/networks.ts'

/** Rules that several NetworkPolicies share. */

export const namespaceNamed = (name: string) => ({ matchLabels: { 'kubernetes.io/metadata.name': name } })

/**
 * Egress rule for the cluster's DNS: its Pods, or a cache on the node with a link-local address. Policies apply to Pod
 * ports, which for DNS may differ from the ports of the Service.
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

/** Networks from the settings, such as `10.42.0.0/16`. */
export interface Networks {
  /** Networks of the cluster itself. */
  readonly clusterNetworks?: readonly string[]
  /** Private networks that Pods may reach although other private networks are blocked. */
  readonly privateNetworks?: readonly string[]
}

/**
 * Returns the egress rule for addresses outside the cluster: public addresses, and the private networks from the
 * settings. It excludes all addresses of the cluster's networks, and all link-local addresses.
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

/** Returns true if the rule of `toOutside` allows at least one address of a network. */
export function isOutside(network: string, networks: Networks): boolean {
  if (uncovered([network], closedOf(networks)).length === 0) return false
  const isPublic = uncovered([network], NOT_PUBLIC).length > 0
  return isPublic || (networks.privateNetworks ?? []).some(one => isWithin(one, network) || isWithin(network, one))
}

/** Returns the networks that are always blocked, even if the settings open them. */
const closedOf = ({ clusterNetworks = [] }: Networks): readonly string[] => [...NEVER_OUTSIDE, ...clusterNetworks]

const notEmpty = (except: readonly string[]) => (except.length > 0 ? { except } : {})
