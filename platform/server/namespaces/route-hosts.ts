import { type Cluster, ClusterError, type KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import { listMemberObjects } from '../http/member-objects.ts'

const GATEWAY = 'gateway.networking.k8s.io'
/** Kinds of objects that route requests by host, with their API versions, newest first. */
const ROUTES: readonly { readonly kind: string; readonly versions: readonly string[] }[] = [
  { kind: 'Ingress', versions: ['networking.k8s.io/v1'] },
  { kind: 'HTTPRoute', versions: [`${GATEWAY}/v1`, `${GATEWAY}/v1beta1`] },
  { kind: 'GRPCRoute', versions: [`${GATEWAY}/v1`, `${GATEWAY}/v1alpha2`] },
  { kind: 'TLSRoute', versions: [`${GATEWAY}/v1`, `${GATEWAY}/v1alpha3`, `${GATEWAY}/v1alpha2`] },
]

/** Yields the hosts that are routed to a namespace, from all kinds of routes in the cluster. */
export async function* routeHosts(cluster: Cluster, namespace: string): AsyncGenerator<string, void> {
  for (const { kind, versions } of ROUTES) {
    const apiVersion = await servedVersion(cluster, kind, versions)
    if (apiVersion === undefined) continue
    try {
      for await (const route of listMemberObjects(cluster, { apiVersion, kind, namespace })) yield* hostsOf(route)
    } catch (error) {
      // The kind, and with it all of its routes, was deleted in the meantime.
      if (!(error instanceof ClusterError) || error.failure !== 'not-found') throw error
    }
  }
}

async function servedVersion(cluster: Cluster, kind: string, versions: readonly string[]): Promise<string | undefined> {
  for (const one of versions) if (await cluster.resource(one, kind)) return one
  return undefined
}

function hostsOf({ spec }: KubeObject): readonly string[] {
  const { rules, hostnames } = (spec ?? {}) as { readonly rules?: unknown; readonly hostnames?: unknown }
  const ofRules = Array.isArray(rules) ? rules.map(rule => (rule as { readonly host?: unknown } | null)?.host) : []
  return [...ofRules, ...(Array.isArray(hostnames) ? hostnames : [])].filter(one => typeof one === 'string')
}
