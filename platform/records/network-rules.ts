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
  /** Those of the cluster itself. */
  readonly clusterNetworks?: readonly string[]
  /** Those that are not public, and can be reached all the same. */
  readonly privateNetworks?: readonly string[]
}

/**
 * What is outside of the cluster: public addresses, and private networks that the settings name. Neither of them has an
 * address of the cluster's networks, or a link-local one.
 */
export function toOutside({ clusterNetworks = [], privateNetworks = [] }: Networks) {
  const closed = [...NEVER_OUTSIDE, ...clusterNetworks]
  const opened = outermost(uncovered(privateNetworks, closed)).map(cidr => ({
    cidr,
    ...notEmpty(outermost(closed.filter(one => isWithin(one, cidr)))),
  }))
  const blocks = [{ cidr: '0.0.0.0/0', except: outermost([...NOT_PUBLIC, ...closed]) }, ...opened]
  return { to: blocks.map(ipBlock => ({ ipBlock })) }
}

/** True if that way out leads to an address of a network. */
export function isOutside(network: string, { clusterNetworks = [], privateNetworks = [] }: Networks): boolean {
  if (uncovered([network], [...NEVER_OUTSIDE, ...clusterNetworks]).length === 0) return false
  const isPublic = uncovered([network], NOT_PUBLIC).length > 0
  return isPublic || privateNetworks.some(one => isWithin(one, network) || isWithin(network, one))
}

const notEmpty = (except: readonly string[]) => (except.length > 0 ? { except } : {})
