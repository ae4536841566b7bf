import type { CallOptions, Cluster, KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { unlessForbidden } from '../forbidden.ts'
import { type GatewayFacts, type Gateways, gatewayKey, type ParentRef, parentsOf } from './routes.ts'

interface GatewaySpec {
  readonly listeners?: readonly { readonly name: string; readonly protocol: string; readonly port?: number }[]
}

interface GatewayStatus {
  readonly addresses?: readonly { readonly type?: string; readonly value?: string }[]
}

/**
 * Returns the facts about the Gateways of HTTPRoutes, such as the scheme and the address. Assumes `https`, the scheme
 * of public routes, for a Gateway that the user has no permission to read.
 */
export async function gatewaysOf(
  cluster: Cluster,
  routes: readonly KubeObject[],
  options: CallOptions,
): Promise<Gateways> {
  const refs = new Map<string, ParentRef>()
  for (const route of routes)
    if (route.kind === 'HTTPRoute')
      for (const parent of parentsOf(route)) {
        const { namespace } = route.metadata
        refs.set(gatewayKey(parent, namespace), { ...parent, ...(namespace && !parent.namespace && { namespace }) })
      }
  const facts = await Promise.all(
    [...refs].map(async ([key, ref]) => [key, await look(cluster, ref, options)] as const),
  )
  return new Map(facts)
}

async function look(cluster: Cluster, ref: ParentRef, options: CallOptions): Promise<GatewayFacts> {
  const { name, namespace } = ref
  const asked = cluster.get({ apiVersion: 'gateway.networking.k8s.io/v1', kind: 'Gateway', name, namespace }, options)
  const gateway = await unlessForbidden(asked, 'unknown' as const)
  if (gateway === undefined)
    return { scheme: 'https', missing: namespace === undefined ? name : `${namespace}/${name}` }
  if (gateway === 'unknown') return { scheme: 'https' }
  const { listeners = [] } = (gateway['spec'] ?? {}) as GatewaySpec // a Gateway's spec
  const used = listeners.filter(({ name }) => ref.sectionName === undefined || name === ref.sectionName)
  const scheme = used.length > 0 && used.every(({ protocol }) => protocol === 'HTTP') ? 'http' : 'https'
  const { addresses = [] } = (gateway['status'] ?? {}) as GatewayStatus // a Gateway's status
  // An address has no port, so it implies the default port. For a listener on another port, DNS and the load balancer
  // in front decide the address.
  const isOrdinary = used.some(({ port }) => port === undefined || port === (scheme === 'http' ? 80 : 443))
  const entry = addresses.find(({ type = 'IPAddress', value }) => value && isReachable(type))?.value
  return { scheme, ...(isOrdinary && entry !== undefined && { entry }) }
}

/**
 * Returns true for the standard address types. Other types are specific to a controller:
 * https://gateway-api.sigs.k8s.io/reference/spec/#addresstype
 */
const isReachable = (type: string): boolean => type === 'IPAddress' || type === 'Hostname'
