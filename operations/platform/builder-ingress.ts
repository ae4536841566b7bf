import type { Cluster, KubeObject } from '../../adapters/kubernetes/cluster.ts'
import type { IngressPeer } from '../../platform/install/builders.ts'
import { BUILD_NAMESPACE } from '../../platform/records/names.ts'
import { excludedNetworks } from '../../platform/records/network-rules.ts'
import { OWN_WORKLOADS } from '../../platform/records/own-workload.ts'
import { uncovered } from '../../platform/rules/networks.ts'
import { ingressPeers } from './install-builders.ts'
import type { PlatformProblem } from './platform-problem.ts'

/** The problem if builds are not let through to the ingress controller, because it was not found and none is named. */
export function missingIngress(
  host: string,
  peers: readonly IngressPeer[],
  networks: readonly string[],
): PlatformProblem | undefined {
  if (peers.length + networks.length > 0) return undefined
  return {
    message: `the ingress controller was not found, so builds cannot use what it serves, such as a registry of the platform`,
    notes: [`neither the DNS record of \`${host}\` nor a Service of type \`LoadBalancer\` leads to it`],
    hint: `create the DNS record \`*${host.replace(/^[^.]+/, '')}\` and install again, or name the address of the ingress controller: \`devctl platform install --builder-networks 10.42.0.5/32\``,
  }
}

interface PolicyFields {
  readonly spec?: { readonly egress?: readonly { readonly to?: readonly PolicyPeer[] }[] }
}

interface PolicyPeer {
  readonly ipBlock?: { readonly cidr?: string; readonly except?: readonly string[] }
  readonly namespaceSelector?: { readonly matchLabels?: Readonly<Record<string, string>> }
  readonly podSelector?: object
}

/** Compares the network policy of the installed builders with the present location of the ingress controller. */
export async function builderIngressProblem(
  cluster: Cluster,
  { host, networks }: { readonly host: string; readonly networks: readonly string[] },
  signal: AbortSignal,
): Promise<PlatformProblem | undefined> {
  const ref = { apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', name: OWN_WORKLOADS.builders.name }
  const [live, peers] = await Promise.all([
    cluster.get({ ...ref, namespace: BUILD_NAMESPACE }, { signal }),
    ingressPeers(cluster, host, signal),
  ])
  if (!live)
    return {
      message: `\`networkpolicy/${ref.name}\` of \`${BUILD_NAMESPACE}\` no longer exists: builds can reach the whole cluster`,
      notes: [],
      hint: 'to create it again, run `devctl platform install`',
    }
  const { allowed, excluded } = readPolicy(live)
  if (peers.length === 0) return missingIngress(host, allowed, networks)
  const isAllowed = (peer: IngressPeer) =>
    'cidr' in peer
      ? // An address outside of the cluster needs no rule of its own.
        uncovered([peer.cidr], excluded).length > 0 || allowed.some(one => 'cidr' in one && covers(one.cidr, peer.cidr))
      : allowed.some(one => !('cidr' in one) && one.namespace === peer.namespace)
  const missing = peers.filter(peer => !isAllowed(peer))
  if (missing.length === 0) return undefined
  const places = missing.map(peer => ('cidr' in peer ? peer.cidr : `Pods of \`${peer.namespace}\``))
  return {
    message: `builds cannot reach the ingress controller, which has moved: ${places.join(', ')}`,
    notes: [],
    hint: 'to let them through, run `devctl platform install`',
  }
}

const covers = (network: string, other: string): boolean => uncovered([other], [network]).length === 0

/** The rules of the policy: destinations by HTTPS, and the networks that no other rule allows. */
function readPolicy(live: KubeObject): {
  readonly allowed: readonly IngressPeer[]
  readonly excluded: readonly string[]
} {
  const { spec } = live as KubeObject & PolicyFields
  const to = (spec?.egress ?? []).flatMap(one => one.to ?? [])
  const excluded = to.flatMap(({ ipBlock }) => ipBlock?.except ?? [])
  const allowed = to.flatMap(({ ipBlock, namespaceSelector, podSelector }): readonly IngressPeer[] => {
    const namespace = namespaceSelector?.matchLabels?.['kubernetes.io/metadata.name']
    if (ipBlock?.cidr !== undefined)
      return ipBlock.except || excludedNetworks([]).includes(ipBlock.cidr) ? [] : [{ cidr: ipBlock.cidr }]
    return namespace !== undefined && podSelector ? [{ namespace, labels: {}, ports: [] }] : []
  })
  return { allowed, excluded }
}
