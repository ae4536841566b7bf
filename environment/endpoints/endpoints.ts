import type { CallOptions, Cluster, KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { isEnding } from '../apply/removal.ts'
import { unlessForbidden } from '../forbidden.ts'
import { environmentSelector } from '../labels.ts'
import { inParallel } from '../pool.ts'
import { gatewaysOf } from './gateways.ts'
import { addressesOf, entryOf, problemOf, shorterFirst } from './routes.ts'

/** Public address of an environment. */
export interface Endpoint {
  /** URL such as `https://web-shop.dev.example.com/api`. */
  readonly url: string
  /** Services that answer at the address. */
  readonly services: readonly string[]
  readonly isReady: boolean
  /** Reason why the endpoint is not ready, as text for users. */
  readonly reason?: string
  /**
   * IP address or host name at which the cluster accepts requests for the endpoint, as reported for its Ingress or
   * Gateway.
   */
  readonly entry?: string
  /** HTTP status of the response; absent if the address was not requested, or did not respond. */
  readonly status?: number
  /**
   * Name of the certificate's Secret if that Secret does not exist. The gateway then presents its default certificate.
   */
  readonly missingSecret?: string
  /** Reason why this machine does not trust the certificate. */
  readonly certificate?: string
}

/**
 * Address that the manifest declares in addition to the routes, for example of an application that runs outside the
 * cluster.
 */
export interface DeclaredEndpoint {
  readonly url: string
  readonly service?: string
}

/**
 * Returns the public addresses of an environment, each once, shorter ones first: the addresses of its Ingresses and
 * HTTPRoutes, and the declared ones. Throws if the cluster rejects a request.
 */
export async function findEndpoints(
  cluster: Cluster,
  { environment, namespace }: { readonly environment: string; readonly namespace: string },
  declared: readonly DeclaredEndpoint[] = [],
  options: CallOptions = {},
): Promise<readonly Endpoint[]> {
  const list = (apiVersion: string, kind: string) =>
    cluster.list({ apiVersion, kind, namespace, labels: environmentSelector(environment) }, options)
  const routes = await Promise.all([
    list('networking.k8s.io/v1', 'Ingress'),
    // A cluster without the Gateway API has no HTTPRoutes. Users may also lack permission to read them, for example
    // with only the role `edit`.
    unlessForbidden(list('gateway.networking.k8s.io/v1', 'HTTPRoute'), []),
  ])
  return endpointsOf(
    cluster,
    namespace,
    routes.flat().filter(route => !isEnding(route)),
    declared,
    options,
  )
}

/**
 * Returns the public addresses of the given Ingresses and HTTPRoutes of a namespace, in the same form as
 * `findEndpoints`. An address is ready if every Service behind it has a ready Pod, and the gateway has accepted the
 * route.
 */
export async function endpointsOf(
  cluster: Cluster,
  namespace: string,
  routes: readonly KubeObject[],
  declared: readonly DeclaredEndpoint[] = [],
  options: CallOptions = {},
): Promise<readonly Endpoint[]> {
  const gateways = await gatewaysOf(cluster, routes, options)
  const found = routes.flatMap(route =>
    addressesOf(route, gateways).map(address => ({
      ...address,
      problem: problemOf(route, gateways),
      entry: entryOf(route, gateways),
    })),
  )
  const services = new Set(found.flatMap(address => address.services))
  const secrets = new Set(found.flatMap(({ secret }) => secret ?? []))
  const [problems, missing] = await Promise.all([
    serviceProblems(cluster, namespace, services, options),
    missingSecrets(cluster, namespace, [...secrets], options),
  ])
  const byUrl = new Map<string, Endpoint>()
  const add = (
    url: string,
    services: readonly string[],
    problem: string | undefined,
    { entry, secret }: { readonly entry?: string | undefined; readonly secret?: string } = {},
  ) => {
    const known = byUrl.get(url)
    const reason = known?.reason ?? problem
    const at = known?.entry ?? entry
    const lost = known?.missingSecret ?? (secret !== undefined && missing.has(secret) ? secret : undefined)
    byUrl.set(url, {
      url,
      services: [...new Set([...(known?.services ?? []), ...services])].sort(),
      isReady: reason === undefined,
      ...(reason !== undefined && { reason }),
      ...(at !== undefined && { entry: at }),
      ...(lost !== undefined && { missingSecret: lost }),
    })
  }
  for (const { services, ...address } of found) {
    const why = address.problem ?? services.map(service => problems.get(service)).find(one => one !== undefined)
    add(address.url, services, why, address)
  }
  for (const { url, service } of declared) add(url, service === undefined ? [] : [service], undefined)
  return [...byUrl.values()].sort(shorterFirst)
}

/** Maps the name of each Service that does not answer to the reason. */
async function serviceProblems(
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

function hasReady(slice: KubeObject): boolean {
  const { endpoints } = slice as EndpointSlice // the server has checked its shape
  // An absent condition means unknown, which counts as ready (EndpointConditions of the Kubernetes API).
  return endpoints?.some(({ conditions }) => conditions?.ready !== false) ?? false
}

interface EndpointSlice {
  readonly endpoints?: readonly { readonly conditions?: { readonly ready?: boolean } }[] | null
}

const serviceOf = ({ metadata }: KubeObject): string => metadata.labels?.['kubernetes.io/service-name'] ?? ''

/**
 * Returns the given names for which no Secret exists. A Secret that the user has no permission to read counts as
 * existing.
 */
async function missingSecrets(
  cluster: Cluster,
  namespace: string,
  names: readonly string[],
  options: CallOptions,
): Promise<ReadonlySet<string>> {
  const isThere = (name: string) => {
    const asked = cluster.get({ apiVersion: 'v1', kind: 'Secret', name, namespace }, options)
    return unlessForbidden(
      asked.then(found => found !== undefined),
      true,
    )
  }
  const there = await inParallel(names, isThere)
  return new Set(names.filter((_, index) => !there[index]))
}
