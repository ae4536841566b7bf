import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { isIPv4 } from '../rules/networks.ts'
import { isOutside, type Networks } from './network-rules.ts'

/** IPv4 address of a node or a Pod. `of` names the node or Pod, such as `node-1` or `kube-system/coredns-7d49`. */
export interface OwnedAddress {
  readonly of: string
  readonly address: string
}

interface NodeStatus {
  readonly addresses?: readonly { readonly type: string; readonly address: string }[]
}

interface PodStatus {
  readonly phase?: string
  readonly podIP?: string
  readonly podIPs?: readonly { readonly ip?: string }[]
}

/** Returns the internal and external IPv4 addresses of a Node. */
export function nodeAddresses({ status }: KubeObject): readonly string[] {
  const { addresses = [] } = (status ?? {}) as NodeStatus // as Kubernetes defines it
  return [...new Set(addresses.map(({ address }) => address).filter(isIPv4))]
}

/** Returns the node addresses that the network policies let Pods reach. */
export const openNodes = (nodes: readonly KubeObject[], networks: Networks): readonly OwnedAddress[] =>
  nodes.flatMap(node => open(node.metadata.name, nodeAddresses(node), networks))

/**
 * Returns the IPv4 addresses of running Pods that the network policies let other Pods reach, without the addresses that
 * a Pod shares with its node.
 */
export const openPods = (pods: readonly KubeObject[], networks: Networks): readonly OwnedAddress[] =>
  pods.flatMap(pod => {
    const { hostNetwork } = (pod['spec'] ?? {}) as { readonly hostNetwork?: boolean } // as Kubernetes defines both
    const { phase, podIP, podIPs = [] } = (pod['status'] ?? {}) as PodStatus
    if (hostNetwork || phase === 'Succeeded' || phase === 'Failed') return []
    const addresses = new Set([podIP, ...podIPs.map(({ ip }) => ip)].filter(one => one !== undefined).filter(isIPv4))
    return open(`${pod.metadata.namespace}/${pod.metadata.name}`, [...addresses], networks)
  })

const open = (of: string, addresses: readonly string[], networks: Networks): readonly OwnedAddress[] =>
  addresses.filter(one => isOutside(`${one}/32`, networks)).map(address => ({ of, address }))
