import type { CallOptions, Cluster, KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { isEnding } from '../apply/removal.ts'
import { inParallel } from '../pool.ts'

interface EndpointSlice {
  readonly endpoints?: readonly { readonly conditions?: { readonly ready?: boolean } }[] | null
}

/** Returns the Services that do not answer, each with the reason. */
export async function serviceProblems(
  cluster: Cluster,
  namespace: string,
  services: ReadonlySet<string>,
  options: CallOptions,
): Promise<ReadonlyMap<string, string>> {
  if (services.size === 0) return new Map()
  const slices = await cluster.list({ apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', namespace }, options)
  const ready = new Set<string>()
  for (const slice of slices) if (hasReady(slice)) ready.add(serviceOf(slice))
  const others = [...services].filter(service => !ready.has(service))
  const problems = await inParallel(others, async name => {
    const service = await cluster.get({ apiVersion: 'v1', kind: 'Service', name, namespace }, options)
    if (!service || isEnding(service)) return [[name, `the Service \`${name}\` does not exist`] as const]
    const { type } = (service['spec'] ?? {}) as { readonly type?: string } // a Service's spec
    // It points outside the cluster, which does not know whether the target is ready.
    return type === 'ExternalName' ? [] : [[name, `no Pod of \`${name}\` is ready`] as const]
  })
  return new Map(problems.flat())
}

const serviceOf = ({ metadata }: KubeObject): string => metadata.labels?.['kubernetes.io/service-name'] ?? ''

function hasReady(slice: KubeObject): boolean {
  const { endpoints } = slice as EndpointSlice // the server has checked its shape
  // An absent condition means unknown, which counts as ready (EndpointConditions of the Kubernetes API).
  return endpoints?.some(({ conditions }) => conditions?.ready !== false) ?? false
}
