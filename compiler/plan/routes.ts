import { diagnostic } from '../diagnostics/diagnostic.ts'
import type { EndpointRule, Port, Service } from '../project/project.ts'
import type { Span } from '../syntax/source.ts'
import { isDnsSubdomain } from '../values/dns-name.ts'
import { toAnnotations } from './annotations.ts'
import { type PlanContext, sortBy, sourceOf } from './context.ts'
import { cutName, toDnsLabel } from './object-names.ts'
import type { RoutePlan } from './plan.ts'
import { neverPublic } from './route-ports.ts'

const notTcp = diagnostic({
  code: 'ports/not-public',
  severity: 'warning',
  loss: true,
  explain:
    'A published port becomes a public HTTPS address. UDP and SCTP cannot be carried by it, so the port stays inside the cluster, where other services reach it.',
  text: (p: { port: number; protocol: string }) => ({
    message: `port ${p.port}/${p.protocol.toLowerCase()} is not public: public addresses speak HTTPS, over TCP`,
    hint: 'make a Service of type LoadBalancer for it by other means',
  }),
})

const guarded = diagnostic({
  code: 'ports/never-public',
  severity: 'info',
  explain:
    'Ports of databases and debuggers are never made public through `ports`; other services reach them. To make one public all the same, write an endpoint:\n\n```yaml\nendpoints:\n  - path: /\n    service: db\n    port: 8086\n```',
  text: (p: { port: number; kind: string }) => ({
    message: `port ${p.port} is not made public, because it is a port of a ${p.kind}`,
    hint: 'other services reach it; `endpoints` can make it public',
  }),
})

const loopback = diagnostic({
  code: 'ports/loopback',
  severity: 'info',
  explain:
    'A port published on a loopback address (`127.0.0.1:8080:80`) is reachable on your machine only. It is not made public; other services reach it.',
  text: (p: { port: number; address: string }) => ({
    message: `port ${p.port} is not made public, because it is published on \`${p.address}\``,
  }),
})

const hostIp = diagnostic({
  code: 'ports/host-ip',
  severity: 'warning',
  loss: true,
  explain:
    'A port can be published on one address of the machine. A cluster has no such address; the public address of the service is a host name.',
  text: (p: { address: string }) => ({
    message: `the host address \`${p.address}\` has no equivalent and is left out`,
  }),
})

const noDomain = diagnostic({
  code: 'routes/no-domain',
  severity: 'warning',
  explain:
    'Public addresses end in the domain of the cluster. None was given, so they end in `local.devctl`, which leads nowhere. Give it with `--domain`, or in the environment of the manifest.',
  text: () => ({
    message: 'no domain is given for the public addresses; `local.devctl` stands in its place',
    hint: 'add `--domain dev.example.com`',
  }),
})

const noNamespace = diagnostic({
  code: 'routes/no-namespace',
  severity: 'warning',
  explain:
    'Public addresses have the form `NAME-NAMESPACE.DOMAIN`. No namespace was given, so the name of the environment stands in its place.',
  text: (p: { environment: string }) => ({
    message: `no namespace is given for the public addresses; \`${p.environment}\` stands in its place`,
    hint: 'add `--namespace`',
  }),
})

const badDomain = diagnostic({
  code: 'routes/bad-domain',
  severity: 'error',
  explain:
    'The domain of the cluster is a host name, such as `dev.example.com`: lower-case letters, digits, `-` and `.`, without a scheme or a path.',
  text: (p: { domain: string }) => ({
    message: `\`${p.domain}\` is no domain`,
    hint: 'write a host name, such as `dev.example.com`',
  }),
})

const noGateway = diagnostic({
  code: 'routes/no-gateway',
  severity: 'error',
  explain:
    'An HTTPRoute belongs to a Gateway, which the operators of the cluster have made. Name it with `--gateway NAMESPACE/NAME`.',
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
  explain: 'A part of a host name has at most 63 characters. The name is cut, and ends in a hash of the whole.',
  text: (p: { label: string; cut: string }) => ({
    message: `\`${p.label}\` is longer than 63 characters; the host begins with \`${p.cut}\``,
    hint: 'use a shorter name or namespace',
  }),
})

const renamedEndpoint = diagnostic({
  code: 'endpoints/renamed',
  severity: 'warning',
  loss: true,
  explain:
    'The name of an endpoint begins a host name: lower-case letters, digits and `-`. Other names are changed to the nearest such name.',
  text: (p: { name: string; label: string }) => ({
    message: `the endpoint \`${p.name}\` is no part of a host name; it becomes \`${p.label}\``,
    hint: `rename it to \`${p.label}\``,
  }),
})

const overruled = diagnostic({
  code: 'routes/overruled',
  severity: 'warning',
  loss: true,
  explain:
    'An endpoint and a public port want the same host. The endpoint wins, since it says more; the port stays inside the cluster. Give the endpoint another name, or leave the public port out.',
  text: (p: { host: string; service: string; port: number }) => ({
    message: `the endpoint for \`${p.host}\` takes the place of the public port ${p.port} of \`${p.service}\``,
    hint: 'rename the endpoint, or do not publish the port',
  }),
})

const hostConflict = diagnostic({
  code: 'routes/host-conflict',
  severity: 'error',
  explain:
    'Two endpoints, or two public ports, would have the same host, and only one can answer. The host of a public port is `SERVICE-NAMESPACE`, or `SERVICE-PORT-NAMESPACE` for a further port of a service. Rename one.',
  text: (p: { host: string; first: string; second: string }) => ({
    message: `${p.second} has the host \`${p.host}\`, like ${p.first}`,
    hint: 'rename one of them',
  }),
})

const placeholderDomain = 'local.devctl'

/** A route with what messages say about it. */
interface Wanted {
  readonly route: RoutePlan
  readonly span: Span
  /** `` the endpoint `api` `` or `` port 80 of `web` ``. */
  readonly what: string
  readonly port?: { readonly service: string; readonly port: number }
}

/**
 * Plans the public addresses (decisions, "Public ports" and "Domain"; specification, Endpoint objects): one for each
 * endpoint and each public port. `unreachable` are services without a Service.
 */
export function planRoutes(context: PlanContext): readonly RoutePlan[] {
  const endpoints = planEndpoints(context)
  const ports = [...context.project.services.values()].flatMap(service => planPublicPorts(context, service))
  const taken = new Map<string, Wanted>()
  const routes: Wanted[] = []
  for (const wanted of [...endpoints, ...sortBy(ports, ({ route }) => route.name)]) {
    const { host } = wanted.route
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
  return sortBy(
    // Without a rule nothing is routed: what the rules lead to is not there.
    routes.map(({ route }) => route).filter(({ rules }) => rules.length > 0),
    ({ name }) => name,
  )
}

/** A warning at both places. */
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

/** The ports of a service that `ports` makes public; each container port once. Reports those that stay inside. */
export function publicPorts({ reporter }: Pick<PlanContext, 'reporter'>, service: Service): readonly Port[] {
  const found = new Map<number, Port>()
  for (const port of service.ports) {
    if (port.published === undefined) continue
    const kind = neverPublic.get(port.target)
    if (port.protocol !== 'TCP') reporter.report(notTcp, port.span, { port: port.target, protocol: port.protocol })
    else if (port.hostIp && isLoopback(port.hostIp))
      reporter.report(loopback, port.span, { port: port.target, address: port.hostIp })
    else if (kind) reporter.report(guarded, port.span, { port: port.target, kind })
    else {
      if (port.hostIp && !/^(0\.0\.0\.0|::|0:0:0:0:0:0:0:0)$/.test(port.hostIp))
        reporter.report(hostIp, port.span, { address: port.hostIp })
      if (!found.has(port.target)) found.set(port.target, port)
    }
  }
  return [...found.values()].sort((a, b) => a.target - b.target)
}

const isLoopback = (address: string): boolean => /^127\.|^(::1|0:0:0:0:0:0:0:1)$|^localhost$/.test(address)

function planPublicPorts(context: PlanContext, service: Service): readonly Wanted[] {
  const { options } = context
  const ports = publicPorts(context, service)
  const name = context.names.of(service.name)
  // By the order of the file, where a further port is added at the end: the address of the first one stays.
  const first = service.ports.find(port => ports.includes(port))
  return ports.map(port => {
    const own = port === first ? name : `${name}-${port.target}`
    const route = toRoute(context, own, port.span, {
      source: sourceOf(context, port.span, `services.${service.name}.ports`),
      service: name,
      annotations: toAnnotations(context, service.labels, options.routeAnnotations ?? []),
      rules: [{ path: '/', service: name, port: port.target }],
    })
    const what = `port ${port.target} of \`${service.name}\``
    return { route, span: port.span, what, port: { service: service.name, port: port.target } }
  })
}

function planEndpoints(context: PlanContext): readonly Wanted[] {
  const { project, environment, options, reporter } = context
  if (!project.endpoints) return []
  const annotations = toAnnotations(context, project.endpoints.labels, options.routeAnnotations ?? [])
  return project.endpoints.endpoints.map(({ name, rules, span }) => {
    const label = name ? toDnsLabel(name.value) : environment.name
    if (name && label !== name.value) reporter.report(renamedEndpoint, name.span, { name: name.value, label })
    const place = name?.span ?? span
    const route = toRoute(context, label, place, {
      source: sourceOf(context, place, name ? `endpoints.${name.value}` : 'endpoints'),
      annotations,
      rules: planRules(context, rules),
    })
    return { route, span: place, what: name ? `the endpoint \`${name.value}\`` : 'the endpoint of the environment' }
  })
}

/** Rules that lead to a service of the project; what else they say has been checked when they were read. */
function planRules({ project, names }: PlanContext, rules: readonly EndpointRule[]): RoutePlan['rules'] {
  return rules
    .filter(({ service }) => project.services.has(service.value))
    .map(({ path, service, port }) => ({ path: path.value, service: names.of(service.value), port: port.value }))
}

function toRoute(
  context: PlanContext,
  name: string,
  span: Span,
  plan: Pick<RoutePlan, 'source' | 'service' | 'annotations' | 'rules'>,
): RoutePlan {
  const { options, environment, reporter } = context
  if (options.namespace === undefined) reporter.report(noNamespace, undefined, { environment: environment.name })
  if (options.domain === undefined) reporter.report(noDomain, undefined, undefined)
  else if (!isDnsSubdomain(options.domain)) reporter.report(badDomain, undefined, { domain: options.domain })
  const label = `${name}-${options.namespace ?? environment.name}`
  const cut = cutName(label, 63)
  if (cut !== label) reporter.report(cutHost, span, { label, cut })
  const base = { ...plan, name: cutName(name, 63), host: `${cut}.${options.domain ?? placeholderDomain}`, span }
  if (options.routes !== 'gateway')
    return {
      ...base,
      kind: 'Ingress',
      ...(options.ingressClass && { ingressClassName: options.ingressClass }),
      ...(options.tlsSecret && { tlsSecret: options.tlsSecret }),
    }
  const [, namespace, gateway] = /^([^/]+)\/([^/]+)$/.exec(options.gateway ?? '') ?? []
  if (!namespace || !gateway) reporter.report(noGateway, undefined, { gateway: options.gateway })
  return { ...base, kind: 'HTTPRoute', ...(namespace && gateway && { gateway: { namespace, name: gateway } }) }
}
