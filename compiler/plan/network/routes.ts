import type { CustomHost, EndpointRule, Port, Service, TlsSource } from '../../compose/project.ts'
import { diagnostic } from '../../diagnostics/diagnostic.ts'
import type { Span } from '../../text/source.ts'
import { isDnsSubdomain } from '../../values/dns-name.ts'
import { inParts } from '../../values/in-parts.ts'
import { withoutLastSlash } from '../../values/path-prefix.ts'
import { type PlanContext, sortBy, sourceOf } from '../context.ts'
import { toAnnotations } from '../labels/annotations.ts'
import { cutName, renameRepeated, slug, toDnsLabel } from '../object-names.ts'
import type { RoutePlan } from '../plan.ts'
import type { EndpointPort } from './exposure.ts'
import { protocolOf } from './port-protocol.ts'
import { isCutOff, publicPorts } from './public-ports.ts'
import { type Backend, reachesTls, withTls } from './tls-backends.ts'

const noDomain = diagnostic({
  code: 'routes/no-domain',
  severity: 'warning',
  explain:
    'Public addresses end with the domain of the cluster. No domain is set, so they end with the placeholder `local.devctl`, which does not resolve. Set it with `--domain`, or in the environment of the manifest.',
  text: () => ({
    message: 'no domain is set for public addresses; the placeholder `local.devctl` is used',
    hint: 'add `--domain dev.example.com`',
  }),
})

const noNamespace = diagnostic({
  code: 'routes/no-namespace',
  severity: 'warning',
  explain:
    'Public addresses have the form `NAME-NAMESPACE.DOMAIN`. No namespace is set, so the name of the environment is used.',
  text: (p: { environment: string }) => ({
    message: `no namespace is set for public addresses; \`${p.environment}\` is used`,
    hint: 'add `--namespace`',
  }),
})

const badDomain = diagnostic({
  code: 'routes/bad-domain',
  severity: 'error',
  explain:
    'The domain of the cluster is a DNS name, such as `dev.example.com`: lower-case letters, digits, `-` and `.`, without scheme and path.',
  text: (p: { domain: string }) => ({
    message: `\`${p.domain}\` is not a valid domain`,
    hint: 'write a DNS name, such as `dev.example.com`',
  }),
})

const noGateway = diagnostic({
  code: 'routes/no-gateway',
  severity: 'error',
  explain:
    'An HTTPRoute needs a Gateway, which the operators of the cluster have created. Name it with `--gateway NAMESPACE/NAME`.',
  text: (p: { gateway: string | undefined }) => ({
    message:
      p.gateway === undefined
        ? 'routes of type `gateway` need a gateway'
        : `\`${p.gateway}\` is not \`NAMESPACE/NAME\``,
    hint: 'add `--gateway NAMESPACE/NAME`',
  }),
})

const cutHost = diagnostic({
  code: 'routes/long-host',
  severity: 'warning',
  loss: true,
  explain:
    'A label of a host name has at most 63 characters. The label is shortened and ends with a hash of the full name.',
  text: (p: { label: string; cut: string }) => ({
    message: `\`${p.label}\` is longer than 63 characters; it is shortened to \`${p.cut}\``,
    hint: 'use a shorter name or namespace',
  }),
})

const renamedEndpoint = diagnostic({
  code: 'endpoints/renamed',
  severity: 'warning',
  loss: true,
  explain:
    'The name of an endpoint is the beginning of a host name: lower-case letters, digits and `-`. devctl changes other names to the nearest valid one.',
  text: (p: { name: string; label: string }) => ({
    message: `the endpoint name \`${p.name}\` is not valid in a host name; it becomes \`${p.label}\``,
    hint: `rename it to \`${p.label}\``,
  }),
})

const overruled = diagnostic({
  code: 'routes/overruled',
  severity: 'warning',
  loss: true,
  explain:
    'An endpoint and a public port have the same host. The endpoint wins, because it is more specific; the port stays inside the cluster. Rename the endpoint, or do not publish the port.',
  text: (p: { host: string; service: string; port: number }) => ({
    message: `the endpoint for \`${p.host}\` replaces the public port ${p.port} of \`${p.service}\``,
    hint: 'rename the endpoint, or do not publish the port',
  }),
})

const hostConflict = diagnostic({
  code: 'routes/host-conflict',
  severity: 'error',
  explain:
    'Two endpoints or two public ports have the same host, and only one of them can receive its requests. The host of a public port is `SERVICE-NAMESPACE`, or `SERVICE-PORT-NAMESPACE` for an additional port of a service. Rename one.',
  text: (p: { host: string; first: string; second: string }) => ({
    message: `${p.second} has the same host \`${p.host}\` as ${p.first}`,
    hint: 'rename one of them',
  }),
})

const gatewayTls = diagnostic({
  code: 'routes/gateway-tls',
  severity: 'warning',
  loss: true,
  explain:
    'With the Gateway API, the certificate of a host is set on a listener of the Gateway, which the operators of the cluster have created. `tls` of an endpoint or a port has no effect.',
  text: (p: { host: string }) => ({
    message: `\`tls\` of \`${p.host}\` has no effect: the Gateway has the certificates`,
    hint: 'remove it, or use Ingresses',
  }),
})

const hostNotPublic = diagnostic({
  code: 'ports/host-not-public',
  severity: 'warning',
  loss: true,
  explain:
    '`x-host` sets additional hosts for a public port. The port is not public: it is not published, or it is a port that devctl never makes public. Use an endpoint for it.',
  text: (p: { host: string; port: number }) => ({
    message: `\`${p.host}\` has no effect: port ${p.port} is not public`,
    hint: 'publish the port, or write an endpoint with this host',
  }),
})

const placeholderDomain = 'local.devctl'

/** A route, with its position and description for messages. */
interface Wanted {
  readonly route: RoutePlan
  readonly span: Span
  /** Description for messages, such as `` the endpoint `api` `` or `` port 80 of `web` ``. */
  readonly what: string
  readonly port?: { readonly service: string; readonly port: number }
}

/**
 * Plans the public addresses: one for each endpoint and each public port. `routed` has the ports that endpoints route
 * to, by service.
 */
export function planRoutes(
  context: PlanContext,
  routed: ReadonlyMap<string, readonly EndpointPort[]>,
): readonly RoutePlan[] {
  const endpoints = planEndpoints(context)
  const ports = [...context.project.services.values()].flatMap(service =>
    planPublicPorts(context, service, routed.get(service.name) ?? []),
  )
  const taken = new Map<string, Wanted>()
  const routes: Wanted[] = []
  for (const wanted of [...endpoints, ...sortBy(ports, ({ route }) => route.name)]) {
    const { host, isOpen } = wanted.route
    if (isOpen) {
      routes.push(wanted)
      continue
    }
    const other = taken.get(host)
    if (!other) {
      taken.set(host, wanted)
      routes.push(wanted)
    } else if (wanted.port && !other.port) {
      reportOverruled(context, host, other, { ...wanted, port: wanted.port })
    } else {
      const related = [{ span: other.span, message: `${other.what} is here` }]
      context.reporter.report(hostConflict, wanted.span, { host, first: other.what, second: wanted.what }, related)
    }
  }
  // A route without rules has no backend, because the services of its rules are missing.
  const all = routes.map(({ route }) => route).filter(({ rules }) => rules.length > 0)
  const open = all.filter(({ isOpen }) => isOpen)
  const others = all.filter(({ isOpen }) => !isOpen).flatMap(splitRoute)
  return sortBy([...open, ...withDistinctNames(others)], ({ name }) => name)
}

/** Maximum number of rules in an HTTPRoute. */
const MOST_RULES = 16

/** Splits an HTTPRoute with too many rules into several for the same host. */
function splitRoute(route: RoutePlan): readonly RoutePlan[] {
  if (route.kind === 'Ingress') return [route]
  return inParts(route.rules, MOST_RULES).map((rules, index) => ({
    ...route,
    name: index === 0 ? route.name : cutName(`${route.name}-${index + 1}`, 63),
    rules,
  }))
}

/**
 * Renames routes so that no two have the same name. Routes at derived addresses come first, so they keep their names if
 * possible.
 */
function withDistinctNames(routes: readonly RoutePlan[]): readonly RoutePlan[] {
  const named = sortBy(routes, routeKey).map(route => ({ name: route.name, route }))
  return renameRepeated(named, ({ route }) => routeKey(route), 63).map(({ name, route }) => ({
    ...route,
    name,
    ...(route.tlsSecret === tlsName(route.name) && { tlsSecret: tlsName(name) }),
  }))
}

/** Returns a text that identifies a route. The parts of a split route have the same host but different first paths. */
const routeKey = ({ isOwnHost, host, rules: [first] }: RoutePlan): string =>
  `${isOwnHost ? 'own' : 'derived'} ${host} ${first?.path}`

/** Returns the name of the Secret into which an issuer writes the certificate of a route. */
const tlsName = (route: string): string => cutName(`${route}-tls`, 63)

/** Reports that an endpoint replaces a public port with the same host, with a warning at each of their positions. */
function reportOverruled(
  { reporter }: PlanContext,
  host: string,
  endpoint: Wanted,
  port: Wanted & Required<Pick<Wanted, 'port'>>,
): void {
  const parameters = { host, ...port.port }
  reporter.report(overruled, port.span, parameters, [{ span: endpoint.span, message: `${endpoint.what} is here` }])
  reporter.report(overruled, endpoint.span, parameters, [{ span: port.span, message: 'the port is published here' }])
}

function planPublicPorts(context: PlanContext, service: Service, routed: readonly EndpointPort[]): readonly Wanted[] {
  const { options } = context
  const ports = publicPorts(context, service, routed)
  const name = context.names.of(service.name)
  for (const port of service.ports.filter(one => !ports.some(isSamePort(one))))
    for (const { name: host } of port.hosts)
      context.reporter.report(hostNotPublic, host.span, { host: host.value, port: port.target })
  // The ports keep the order of the file, where new ports are usually added at the end, so the address of the first
  // port does not change. Ports that do not understand the route's requests come last.
  const [first] = service.ports
    .filter(port => ports.includes(port))
    .sort((a, b) => rankOf(context, a) - rankOf(context, b))
  return ports.flatMap(port => {
    const own = port === first ? name : `${name}-${port.target}`
    const plan = {
      source: sourceOf(context, port.span, ['services', service.name, 'ports']),
      service: name,
      annotations: withTls(context, toAnnotations(context, service.labels, options.routeAnnotations ?? []), [
        { service, port: port.target, span: port.span },
      ]),
      rules: [{ path: '/', service: name, port: port.target }],
    }
    const hosts = distinct(service.ports.filter(isSamePort(port)).flatMap(one => one.hosts))
    const what = `port ${port.target} of \`${service.name}\``
    const wanted = { what, port: { service: service.name, port: port.target } }
    return [
      { ...wanted, route: toRoute(context, own, port.span, plan, hosts.length > 0), span: port.span },
      ...hosts.map(host => ({ ...wanted, route: toOwnRoute(context, own, host, plan), span: host.name.span })),
    ]
  })
}

/** Returns true for items of `ports` with the same container port, which have one route. */
const isSamePort =
  ({ target, protocol }: Port) =>
  (other: Port): boolean =>
    other.target === target && other.protocol === protocol

/**
 * Returns the rank of a port among the public ports of its service. The port with the lowest rank gets the host that is
 * named after the service.
 */
function rankOf(context: PlanContext, port: Port): number {
  const { kind } = protocolOf(port)
  return kind === 'other' ? 2 : kind === 'tls' && !reachesTls(context) ? 1 : 0
}

/**
 * Returns the path of the endpoints in their file: `deploy.endpoints` in the manifest, or `endpoints` in a Compose
 * file.
 */
function endpointsPath({ project: { documents } }: PlanContext, { file }: Span): readonly string[] {
  const isManifest = documents.length > 0 && documents.every(({ span }) => span.file !== file)
  return isManifest ? ['deploy', 'endpoints'] : ['endpoints']
}

function planEndpoints(context: PlanContext): readonly Wanted[] {
  const { project, environment, options, reporter } = context
  if (!project.endpoints) return []
  const common = project.endpoints.labels
  return project.endpoints.endpoints.flatMap(({ name, rules: written, span, labels = [] }) => {
    const rules = written.filter(rule => {
      const service = project.services.get(rule.service.value)
      return !service || !isCutOff(context, service, rule.service.span)
    })
    const label = name ? toDnsLabel(name.value) : environment.name
    const leads = rules.some(({ service }) => project.services.has(service.value))
    if (leads && name && label !== name.value) reporter.report(renamedEndpoint, name.span, { name: name.value, label })
    const place = name?.span ?? span
    const annotations = toAnnotations(context, [...common, ...labels], options.routeAnnotations ?? [])
    const source = sourceOf(context, place, [...endpointsPath(context, place), ...(name ? [name.value] : [])])
    const to = (some: readonly EndpointRule[]) => ({
      source,
      annotations: withTls(context, annotations, backendsOf(context, some)),
      rules: planRules(context, some),
    })
    const what = name ? `the endpoint \`${name.value}\`` : 'the endpoint of the environment'
    const hosts = rules.flatMap(rule => rule.hosts)
    const isOwn = rules.every(rule => rule.hosts.length > 0)
    const isAt = (host: CustomHost) => (rule: EndpointRule) =>
      rule.hosts.some(({ name: own }) => own.value === host.name.value)
    return [
      { route: toRoute(context, label, place, to(firstOfPath(rules)), isOwn), span: place, what },
      ...distinct(hosts).map(host => ({
        route: toOwnRoute(context, label, host, to(rules.filter(isAt(host)))),
        span: host.name.span,
        what,
      })),
    ]
  })
}

/**
 * Returns the first rule of each path. Only these rules apply at the main address of the endpoint. Further rules with
 * the same path apply only at their own custom hosts.
 */
const firstOfPath = (rules: readonly EndpointRule[]): readonly EndpointRule[] => {
  const paths = rules.map(({ path }) => withoutLastSlash(path.value))
  return rules.filter((_, index) => paths.indexOf(paths[index]!) === index)
}

const distinct = (hosts: readonly CustomHost[]): readonly CustomHost[] =>
  hosts.filter(({ name }, index) => hosts.findIndex(other => other.name.value === name.value) === index)

/** Returns the service and port that each rule routes to. Omits rules whose service is not part of the project. */
const backendsOf = ({ project }: PlanContext, rules: readonly EndpointRule[]): readonly Backend[] =>
  rules.flatMap(({ service: { value }, port: { value: port, span } }) => {
    const service = project.services.get(value)
    return service ? [{ service, port, span }] : []
  })

/**
 * Converts rules to the form of a plan. Omits rules whose service is not part of the project; everything else about the
 * rules was checked when they were read.
 */
function planRules({ project, names }: PlanContext, rules: readonly EndpointRule[]): RoutePlan['rules'] {
  return rules
    .filter(({ service }) => project.services.has(service.value))
    .map(({ path, service, port }) => ({ path: path.value, service: names.of(service.value), port: port.value }))
}

/**
 * Plans the route at the address that is derived from the name, the namespace and the domain. Without a domain, a route
 * with custom hosts gets no derived address.
 */
function toRoute(
  context: PlanContext,
  name: string,
  span: Span,
  plan: Pick<RoutePlan, 'source' | 'service' | 'annotations' | 'rules'>,
  hasOwnHosts: boolean,
): RoutePlan {
  const { options, environment, reporter } = context
  const isOpen = options.domain === undefined && hasOwnHosts
  if (options.namespace === undefined && !isOpen)
    reporter.report(noNamespace, undefined, { environment: environment.name })
  if (isOpen) return finish(context, { ...plan, name: cutName(name, 63), host: '', isOwnHost: false, isOpen, span }, {})
  if (options.domain === undefined) reporter.report(noDomain, undefined, undefined)
  else if (!isDnsSubdomain(options.domain)) reporter.report(badDomain, undefined, { domain: options.domain })
  const label = `${name}-${options.namespace ?? environment.name}`
  const cut = cutName(label, 63)
  if (cut !== label) reporter.report(cutHost, span, { label, cut })
  const host = `${cut}.${options.domain ?? placeholderDomain}`
  return finish(context, { ...plan, name: cutName(name, 63), host, isOwnHost: false, span }, environmentTls(context))
}

/** Plans the route at a custom host. Its name combines the name of the main route and the host. */
function toOwnRoute(
  context: PlanContext,
  name: string,
  { name: host, tls }: CustomHost,
  plan: Pick<RoutePlan, 'source' | 'service' | 'annotations' | 'rules'>,
): RoutePlan {
  if (tls && context.options.routes === 'gateway')
    context.reporter.report(gatewayTls, tls.span ?? host.span, { host: host.value })
  const own = cutName(`${name}-${slug(host.value.replace(/^\*/, 'any'))}`, 63)
  const base = { ...plan, name: own, host: host.value, isOwnHost: true, span: host.span }
  return finish(context, base, tls ?? environmentTls(context))
}

const environmentTls = ({ options: { tlsSecret, tlsIssuer } }: PlanContext): TlsSource => ({
  ...(tlsSecret !== undefined && { secret: tlsSecret }),
  ...(tlsIssuer && { issuer: tlsIssuer }),
})

/**
 * Adds the fields that depend on the kind of the route: class and certificate of an Ingress, or the Gateway of an
 * HTTPRoute.
 */
function finish(
  { options, reporter }: PlanContext,
  base: Omit<RoutePlan, 'kind'>,
  { secret, issuer }: TlsSource,
): RoutePlan {
  if (options.routes !== 'gateway') {
    const tlsSecret = secret ?? (issuer && tlsName(base.name))
    const annotation = issuer?.kind === 'Issuer' ? 'cert-manager.io/issuer' : 'cert-manager.io/cluster-issuer'
    return {
      ...base,
      kind: 'Ingress',
      ...(issuer && { annotations: { ...base.annotations, [annotation]: issuer.name } }),
      ...(options.ingressClass && { ingressClassName: options.ingressClass }),
      ...(tlsSecret && { tlsSecret }),
    }
  }
  const [, namespace, gateway] = /^([^/]+)\/([^/]+)$/.exec(options.gateway ?? '') ?? []
  if (!namespace || !gateway) reporter.report(noGateway, undefined, { gateway: options.gateway })
  return { ...base, kind: 'HTTPRoute', ...(namespace && gateway && { gateway: { namespace, name: gateway } }) }
}
