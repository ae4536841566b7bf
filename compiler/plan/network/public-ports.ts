import type { Port, Project, Service } from '../../compose/project.ts'
import { diagnostic } from '../../diagnostics/diagnostic.ts'
import type { Span } from '../../text/source.ts'
import type { PlanContext } from '../context.ts'
import { namespaceOwner } from '../workload/groups.ts'
import type { EndpointPort } from './exposure.ts'
import { internalNetworkOf } from './internal-networks.ts'
import { protocolOf } from './port-protocol.ts'
import { publishedPort } from './published-port.ts'
import { neverPublic } from './route-ports.ts'

/** The range of container ports that one item of `ports` covers. */
interface Written {
  readonly first: number
  readonly last: number
}

const isOne = ({ first, last }: Written): boolean => first === last

const portsOf = (written: Written, protocol = ''): string =>
  isOne(written) ? `port ${written.first}${protocol} is` : `ports ${written.first} to ${written.last}${protocol} are`

const notTcp = diagnostic({
  code: 'ports/not-public',
  severity: 'warning',
  loss: true,
  explain:
    'A published port becomes a public HTTPS address, which cannot carry UDP or SCTP. The port is reachable inside the cluster only.',
  text: (p: { written: Written; protocol: string }) => ({
    message: `${portsOf(p.written, `/${p.protocol.toLowerCase()}`)} not public: a public address is HTTPS over TCP`,
    hint: 'use the long form of `ports` with `x-expose: {type: LoadBalancer}`',
  }),
})

const guarded = diagnostic({
  code: 'ports/never-public',
  severity: 'warning',
  loss: true,
  explain:
    'devctl never makes database and debugger ports in `ports` public. Other services can reach them, and `devctl forward db 5432` makes one reachable on your machine. To silence the warning, do not publish the port (`- "5432"`). To make it public anyway, expose it with a load balancer, or write an endpoint if it speaks HTTP:\n\n```yaml\nservices:\n  db:\n    ports:\n      - {target: 5432, published: 5432, x-expose: {type: LoadBalancer}}\n  metrics:\n    ports: ["8086:8086"]\nendpoints:\n  - path: /\n    service: metrics\n    port: 8086\n```',
  text: (p: { service: string; port: number; kind: string }) => ({
    message: `port ${p.port} is not made public: ${p.port} is commonly a ${p.kind}'s port`,
    hint: `to reach it from your machine, use \`devctl forward ${p.service} ${p.port}\`; to make it public, use \`x-expose\` in the long form of \`ports\`, or an endpoint if it speaks HTTP`,
  }),
})

const loopback = diagnostic({
  code: 'ports/loopback',
  severity: 'warning',
  loss: true,
  explain:
    'In Compose a port that is published on a loopback address (`127.0.0.1:8080:80`) is reachable on your machine only. The containers of a cluster do not run on your machine, so the address is left out: the port is not made public, and other services can reach it. `devctl forward web 8080:80` makes it reachable on your machine, and `--address 127.0.0.2` on another loopback address.',
  text: (p: { service: string; written: Written; address: string; protocol: string; forwarded: string }) => ({
    message: `${portsOf(p.written)} not made public, because ${isOne(p.written) ? 'it is' : 'they are'} published on \`${p.address}\``,
    hint:
      p.protocol === 'TCP'
        ? `to reach it from your machine, use \`devctl forward ${p.service} ${p.forwarded}\``
        : 'reach it from another service: a port-forward to your machine carries TCP only',
  }),
})

const hostIp = diagnostic({
  code: 'ports/host-ip',
  severity: 'warning',
  loss: true,
  explain:
    'In Compose a port can be published on one address of the machine. Kubernetes has no equivalent; the public address of the service is a host name.',
  text: (p: { address: string }) => ({
    message: `the host address \`${p.address}\` has no equivalent and is left out`,
  }),
})

const notHttp = diagnostic({
  code: 'ports/not-http',
  severity: 'warning',
  loss: true,
  explain: `A public address is HTTPS: requests reach the port as HTTP, and a program that speaks something else does not understand them. A port whose \`app_protocol\` is not HTTP gets no address. One without \`app_protocol\` that commonly speaks something else keeps its address, but not the host of its service if that has another port. To make such a port reachable from outside, expose it without HTTP:

\`\`\`yaml
ports:
  - target: 25
    published: "25"
    x-expose: {type: LoadBalancer}
\`\`\``,
  text: (p: { service: string; port: number; protocol: string; isWritten: boolean }) => ({
    message: p.isWritten
      ? `port ${p.port} of \`${p.service}\` gets no public address: \`app_protocol: ${p.protocol}\` is not HTTP`
      : `the public address of port ${p.port} of \`${p.service}\` is for HTTP, and ${p.port} is commonly ${p.protocol}`,
    hint: `use the long form of \`ports\` with \`x-expose: {type: LoadBalancer}\`${p.isWritten ? '' : ', or `app_protocol: http` if it speaks HTTP'}`,
  }),
})

const noNetwork = diagnostic({
  code: 'ports/no-network',
  severity: 'warning',
  loss: true,
  explain:
    'A container with `network_mode: none` has no network: nobody can reach its ports, in Compose as in a cluster. They get no public address.',
  text: (p: { service: string }) => ({
    message: `the ports of \`${p.service}\` are not public: with \`network_mode: none\` nobody reaches it`,
    hint: 'remove `network_mode: none`, or do not publish the ports',
  }),
})

const onlyInternal = diagnostic({
  code: 'ports/internal-network',
  severity: 'warning',
  loss: true,
  explain: `A container engine does not publish the ports of a container whose networks are all \`internal\`: only services of these networks reach it. So the ports are not reachable from outside in a cluster, either: they get no public address, no Service for \`x-expose\` and no port of the node. Add another network, or write an endpoint:

\`\`\`yaml
endpoints:
  - path: /
    service: admin
    port: 8000
\`\`\``,
  text: (p: { service: string; port: number }) => ({
    message: `port ${p.port} of \`${p.service}\` is not public: its networks are internal, so Compose does not publish it`,
    hint: `to make it public, write an endpoint, or add a network that is not internal; otherwise do not publish the port`,
  }),
})

/**
 * Returns true if all networks of a service are internal, so that nobody outside reaches a port that it publishes.
 * Reports such a port.
 */
export function isInternal(
  { reporter, project }: Pick<PlanContext, 'reporter' | 'project'>,
  service: Service,
  { span, target }: Port,
): boolean {
  const network = internalNetworkOf(project, service)
  if (!network) return false
  const related = [{ span: network.span, message: 'the network is here' }]
  reporter.report(onlyInternal, span, { service: service.name, port: target }, related)
  return true
}

/**
 * Returns true if a service has no network (`network_mode: none`), or joins a service that has none. Reports such a
 * service at `span`, the position that makes it reachable.
 */
export function isCutOff(
  { reporter, project }: Pick<PlanContext, 'reporter' | 'project'>,
  service: Service,
  span: Span,
): boolean {
  const { networkMode: mode } = namespaceOwner(project, service, 'networkMode')
  if (mode?.value !== 'none') return false
  const related = mode === service.networkMode ? [] : [{ span: mode.span, message: 'its network is here' }]
  reporter.report(noNetwork, span, { service: service.name }, related)
  return true
}

/**
 * Returns the ports of a service that `ports` makes public, each container port once. Reports published ports that stay
 * inside the cluster, except ports that an endpoint makes public.
 */
export function publicPorts(
  { reporter, names, project }: PlanContext,
  service: Service,
  routed: readonly EndpointPort[],
): readonly Port[] {
  const found = new Map<number, Port>()
  const name = names.of(service.name)
  const byEndpoint = new Set(routed.map(({ port }) => port))
  const written = writtenItems(service)
  for (const port of service.ports) {
    if (port.published === undefined) continue
    // A port with `x-expose` has a separate Service for connections from outside.
    if (port.expose) continue
    if (isCutOff({ reporter, project }, service, port.span)) continue
    const number = publishedPort(port) ?? port.target
    const isRouted = byEndpoint.has(port.target) || byEndpoint.has(number)
    if (internalNetworkOf(project, service)) {
      if (!isRouted || port.mode === 'host') isInternal({ reporter, project }, service, port)
      continue
    }
    const guardedAs = neverPublic.get(port.target)
    const { kind, name: protocol, isWritten } = protocolOf(port)
    const item = written.get(itemOf(port))!
    // The report is the same for all ports of an item, so it appears only once.
    const { protocol: transport, hostIp: address } = port
    if (address && isLoopback(address)) {
      const forwarded = `${addressOption(project, address, port)}${number}:${port.target}`
      const parameters = { service: name, written: item, address, protocol: transport, forwarded }
      if (!isRouted) reporter.report(loopback, port.span, parameters)
    } else if (transport !== 'TCP') reporter.report(notTcp, port.span, { written: item, protocol: transport })
    else if (guardedAs) {
      if (!isRouted) reporter.report(guarded, port.span, { service: name, port: port.target, kind: guardedAs })
    } else {
      const isOther = kind === 'other'
      if (isOther && !isRouted)
        reporter.report(notHttp, port.span, { service: name, port: port.target, protocol, isWritten })
      if (isOther && isWritten) continue
      if (port.hostIp && !/^(0\.0\.0\.0|::|0:0:0:0:0:0:0:0)$/.test(port.hostIp))
        reporter.report(hostIp, port.span, { address: port.hostIp })
      if (!found.has(port.target)) found.set(port.target, port)
    }
  }
  return [...found.values()].sort((a, b) => a.target - b.target)
}

function writtenItems({ ports }: Service): ReadonlyMap<string, Written> {
  const found = new Map<string, Written>()
  for (const port of ports) {
    const { first, last } = found.get(itemOf(port)) ?? { first: port.target, last: port.target }
    found.set(itemOf(port), { first: Math.min(first, port.target), last: Math.max(last, port.target) })
  }
  return found
}

const itemOf = ({ span, protocol }: Port): string => `${span.file.path} ${span.start} ${protocol}`

/**
 * Returns the option with which `devctl forward` listens on a loopback address. Empty for `localhost`, and for
 * `127.0.0.1` unless the same port is also published on the IPv6 loopback address.
 */
function addressOption({ services }: Project, address: string, { published }: Port): string {
  if (address === 'localhost') return ''
  const others = [...services.values()].flatMap(({ ports }) => ports)
  const isShared = others.some(one => one.published === published && one.hostIp && isLoopback6(one.hostIp))
  return address === '127.0.0.1' && !isShared ? '' : `--address ${address} `
}

const isLoopback6 = (address: string): boolean => address.includes(':') && isLoopback(address)

const isLoopback = (address: string): boolean => /^127\.|^(::1|0:0:0:0:0:0:0:1)$|^localhost$/.test(address)
