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

/**
 * All addresses except those of the cluster itself, and link-local ones, where clouds serve the credentials of nodes.
 */
export const toOutside = (clusterNetworks: readonly string[]) => ({
  to: [{ ipBlock: { cidr: '0.0.0.0/0', except: ['169.254.0.0/16', ...clusterNetworks] } }],
})
