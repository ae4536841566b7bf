import type { CallOptions, Cluster, KubeObject } from '../../cluster/cluster.ts'
import { unlessForbidden } from '../forbidden.ts'
import { type GatewaySchemes, gatewayKey, type ParentRef, parentsOf } from './routes.ts'

interface GatewaySpec {
  readonly listeners?: readonly { readonly name: string; readonly protocol: string }[]
}

/** How the Gateways of HTTPRoutes are spoken to. Who may not read one takes it for `https`, which is what public routes are (specification, Endpoint objects). */
export async function gatewaySchemes(
  cluster: Cluster,
  routes: readonly KubeObject[],
  options: CallOptions,
): Promise<GatewaySchemes> {
  const refs = new Map<string, ParentRef>()
  for (const route of routes)
    if (route.kind === 'HTTPRoute')
      for (const parent of parentsOf(route)) {
        const { namespace } = route.metadata
        refs.set(gatewayKey(parent, namespace), { ...parent, ...(namespace && !parent.namespace && { namespace }) })
      }
  const schemes = await Promise.all(
    [...refs].map(async ([key, ref]) => [key, (await isPlain(cluster, ref, options)) ? 'http' : 'https'] as const),
  )
  return new Map(schemes)
}

async function isPlain(cluster: Cluster, ref: ParentRef, options: CallOptions): Promise<boolean> {
  const { name, namespace } = ref
  const asked = cluster.get({ apiVersion: 'gateway.networking.k8s.io/v1', kind: 'Gateway', name, namespace }, options)
  const gateway = await unlessForbidden(asked, undefined)
  const { listeners = [] } = (gateway?.['spec'] ?? {}) as GatewaySpec // a Gateway's spec
  const used = listeners.filter(({ name }) => ref.sectionName === undefined || name === ref.sectionName)
  return used.length > 0 && used.every(({ protocol }) => protocol === 'HTTP')
}
