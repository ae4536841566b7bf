import type { Cluster, KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import { BUILD_NAMESPACE } from '../../records/names.ts'
import { OWN_WORKLOADS } from '../../records/own-workload.ts'
import { isWithin } from '../../rules/networks.ts'
import type { PlatformProblem } from '../../session/platform-problem.ts'
import { ingressPeers } from '../install-builders.ts'
import type { IngressPeer } from '../manifests/builders.ts'

/**
 * Returns the problem that builds cannot reach the ingress controller, because it was not found and no option names its
 * networks.
 */
export function missingIngress(
  host: string,
  peers: readonly object[],
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
  readonly spec?: {
    readonly egress?: readonly {
      readonly to?: readonly PolicyPeer[]
      readonly ports?: readonly { readonly port?: number | string }[]
    }[]
  }
}

interface PolicyPeer {
  readonly ipBlock?: { readonly cidr?: string; readonly except?: readonly string[] }
  readonly namespaceSelector?: { readonly matchLabels?: Readonly<Record<string, string>> }
  readonly podSelector?: object
}

/**
 * Compares the network policy of the installed builders with the current addresses of the ingress controller. Returns
 * the problem if the policy is missing, if it does not allow one of these addresses, or if no address was found;
 * otherwise undefined.
 */
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
  const { blocks, pods } = readPolicy(live)
  const named = blocks.filter(({ isOnlyHttps }) => isOnlyHttps)
  if (peers.length === 0) return missingIngress(host, [...named, ...pods], networks)
  const isAllowed = (peer: IngressPeer) =>
    'cidr' in peer
      ? // An address outside of the cluster needs no rule of its own.
        blocks.some(({ cidr, except }) => isWithin(peer.cidr, cidr) && !except.some(one => isWithin(peer.cidr, one)))
      : pods.some(({ namespace }) => namespace === peer.namespace)
  const missing = peers.filter(peer => !isAllowed(peer))
  if (missing.length === 0) return undefined
  const places = missing.map(peer => ('cidr' in peer ? peer.cidr : `Pods of \`${peer.namespace}\``))
  return {
    message: `builds cannot reach the ingress controller, which has moved: ${places.join(', ')}`,
    notes: [],
    hint: 'to let them through, run `devctl platform install`',
  }
}

const HTTPS = 443

interface Block {
  readonly cidr: string
  readonly except: readonly string[]
  readonly isOnlyHttps: boolean
}

/**
 * Reads the HTTPS destinations that a policy allows: CIDR blocks, and Pods of a namespace at ports other than the DNS
 * ports.
 */
function readPolicy(live: KubeObject) {
  const { spec } = live as KubeObject & PolicyFields
  const blocks: Block[] = []
  const pods: { readonly namespace: string }[] = []
  for (const { to = [], ports } of spec?.egress ?? [])
    for (const { ipBlock, namespaceSelector, podSelector } of to) {
      const namespace = namespaceSelector?.matchLabels?.['kubernetes.io/metadata.name']
      if (namespace !== undefined && podSelector) pods.push({ namespace })
      else if (ipBlock?.cidr !== undefined && (!ports || ports.some(({ port }) => port === HTTPS)))
        blocks.push({ cidr: ipBlock.cidr, except: ipBlock.except ?? [], isOnlyHttps: ports !== undefined })
    }
  return { blocks, pods }
}
