import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'

/** Address of a route, and the Services that answer at the address; they are in the namespace of the route. */
export interface PublicAddress {
  readonly url: string
  readonly services: readonly string[]
  /** Secret of the certificate, if the route names one. */
  readonly secret?: string
}

/** Facts about a Gateway that are needed for the routes attached to it. */
export interface GatewayFacts {
  /** `NAMESPACE/NAME` of a Gateway that does not exist. */
  readonly missing?: string
  readonly scheme: 'http' | 'https'
  /** IP address or host name at which the Gateway accepts requests on the default port of the scheme. */
  readonly entry?: string
}

/** Facts about Gateways by `gatewayKey`. */
export type Gateways = ReadonlyMap<string, GatewayFacts>

interface IngressSpec {
  readonly rules?: readonly {
    readonly host?: string
    readonly http?: { readonly paths?: readonly { readonly path?: string; readonly backend?: IngressBackend }[] }
  }[]
  readonly tls?: readonly { readonly hosts?: readonly string[]; readonly secretName?: string }[]
  readonly defaultBackend?: IngressBackend
}
interface IngressBackend {
  readonly service?: { readonly name: string }
}
interface HttpRouteSpec {
  readonly parentRefs?: readonly ParentRef[]
  readonly hostnames?: readonly string[]
  readonly rules?: readonly {
    readonly matches?: readonly { readonly path?: { readonly value?: string } }[]
    readonly backendRefs?: readonly { readonly kind?: string; readonly name: string; readonly namespace?: string }[]
  }[]
}
interface HttpRouteStatus {
  readonly parents?: readonly {
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly message?: string }[]
  }[]
}
export interface ParentRef {
  readonly kind?: string
  readonly name: string
  readonly namespace?: string
  readonly sectionName?: string
}

/**
 * Returns every address of an Ingress or HTTPRoute, for all hosts and paths. A rule that matches any host has no
 * address, because no host name is known for it.
 */
export function addressesOf(route: KubeObject, gateways: Gateways): readonly PublicAddress[] {
  return route.kind === 'Ingress' ? ingressAddresses(route) : httpRouteAddresses(route, gateways)
}

/** Returns the names of the Services to which a route sends requests, in the namespace of the route. */
export const servicesBehind = (route: KubeObject): readonly string[] =>
  addressesOf(route, new Map()).flatMap(({ services }) => services)

/** Compares two addresses by length, then alphabetically. */
export const shorterFirst = (a: Pick<PublicAddress, 'url'>, b: Pick<PublicAddress, 'url'>): number =>
  a.url.length - b.url.length || (a.url < b.url ? -1 : 1)

/**
 * Returns the reason why a route does not work yet: its gateway is missing, or has not accepted it. Always undefined
 * for Ingresses, which do not report this.
 */
export function problemOf(route: KubeObject, gateways: Gateways): string | undefined {
  if (route.kind !== 'HTTPRoute') return undefined
  const facts = factsOf(route, gateways)
  const missing = facts.every(one => one.missing !== undefined) ? facts[0]?.missing : undefined
  if (missing !== undefined) return `the Gateway \`${missing}\` does not exist`
  const { parents = [] } = (route['status'] ?? {}) as HttpRouteStatus // its status
  if (parents.length === 0) return 'no gateway has taken its route yet'
  for (const { conditions = [] } of parents)
    for (const { type, status, message } of conditions)
      if ((type === 'Accepted' || type === 'ResolvedRefs') && status === 'False')
        return `its gateway refuses the route: ${message || type}`
  return undefined
}

/**
 * Returns the address at which the cluster accepts requests for a route, as reported by its controller: in the status
 * of an Ingress, or in the Gateways of an HTTPRoute. Undefined if the address is not known, for example because the
 * user has no permission to read the Gateways.
 */
export function entryOf(route: KubeObject, gateways: Gateways): string | undefined {
  if (route.kind !== 'Ingress') return factsOf(route, gateways).find(({ entry }) => entry !== undefined)?.entry
  const { loadBalancer } = (route['status'] ?? {}) as {
    readonly loadBalancer?: { readonly ingress?: readonly { readonly ip?: string; readonly hostname?: string }[] }
  } // its status
  return loadBalancer?.ingress?.map(({ ip, hostname }) => ip ?? hostname).find(one => one !== undefined)
}

/** Returns the Gateways that an HTTPRoute attaches to. */
export const parentsOf = (route: KubeObject): readonly ParentRef[] =>
  ((route['spec'] ?? {}) as HttpRouteSpec).parentRefs?.filter(({ kind = 'Gateway' }) => kind === 'Gateway') ?? [] // its spec

/**
 * Returns the map key of a Gateway or, if the route names a listener, of that listener. `own` is the namespace of the
 * route.
 */
export const gatewayKey = ({ name, namespace, sectionName = '' }: ParentRef, own: string | undefined): string =>
  `${namespace ?? own}/${name}/${sectionName}`

const factsOf = (route: KubeObject, gateways: Gateways): readonly GatewayFacts[] =>
  parentsOf(route).flatMap(parent => gateways.get(gatewayKey(parent, route.metadata.namespace)) ?? [])

function ingressAddresses(route: KubeObject): readonly PublicAddress[] {
  const { rules = [], tls = [], defaultBackend } = (route['spec'] ?? {}) as IngressSpec // its spec
  return rules.flatMap(({ host, http }) => {
    if (!host) return []
    const secure = tls.find(({ hosts = [] }) => hosts.some(one => covers(one, host)))
    const scheme = secure ? 'https' : 'http'
    const paths = http?.paths ?? [{ backend: defaultBackend }]
    return paths.map(({ path = '/', backend = defaultBackend }) => ({
      url: urlOf(scheme, host, path),
      services: backend?.service ? [backend.service.name] : [],
      ...(secure?.secretName !== undefined && { secret: secure.secretName }),
    }))
  })
}

function httpRouteAddresses(route: KubeObject, gateways: Gateways): readonly PublicAddress[] {
  const { hostnames = [], rules = [] } = (route['spec'] ?? {}) as HttpRouteSpec // its spec
  const { namespace } = route.metadata
  const isPlain = factsOf(route, gateways).some(({ scheme }) => scheme === 'http')
  return hostnames.flatMap(host =>
    rules.flatMap(({ matches = [{}], backendRefs = [] }) =>
      matches.map(({ path }) => ({
        url: urlOf(isPlain ? 'http' : 'https', host, path?.value ?? '/'),
        services: backendRefs
          .filter(one => (one.kind ?? 'Service') === 'Service' && (one.namespace ?? namespace) === namespace)
          .map(({ name }) => name),
      })),
    ),
  )
}

/** Returns true if a host name of a certificate, which may be a wildcard, covers this host. */
function covers(certified: string, host: string): boolean {
  return certified === host || (certified.startsWith('*.') && host.slice(host.indexOf('.')) === certified.slice(1))
}

const urlOf = (scheme: string, host: string, path: string) => `${scheme}://${host}${path === '/' ? '' : path}`
