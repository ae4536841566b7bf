import type { Port, Service } from '../../compose/project.ts'
import { diagnostic } from '../../diagnostics/diagnostic.ts'
import type { PlanContext } from '../context.ts'
import { type EndpointPort, publishedPort } from './exposure.ts'
import { neverPublic } from './route-ports.ts'

/** The container ports that one item of `ports` stands for. */
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
    'A published port becomes a public HTTPS address. UDP and SCTP cannot be carried by it, so the port stays inside the cluster, where other services reach it.',
  text: (p: { written: Written; protocol: string }) => ({
    message: `${portsOf(p.written, `/${p.protocol.toLowerCase()}`)} not public: public addresses speak HTTPS, over TCP`,
    hint: 'add `x-expose: {type: LoadBalancer}` to it in the long form of `ports`',
  }),
})

const guarded = diagnostic({
  code: 'ports/never-public',
  severity: 'warning',
  loss: true,
  explain:
    'Ports of databases and debuggers are never made public through `ports`; other services reach them, and `devctl forward db 5432` makes one reachable on your machine. A port that is not published (`- "5432"`) says the same. To make one public all the same, write an endpoint:\n\n```yaml\nendpoints:\n  - path: /\n    service: db\n    port: 8086\n```',
  text: (p: { service: string; port: number; kind: string }) => ({
    message: `port ${p.port} is not made public, because it is a port of a ${p.kind}`,
    hint: `\`devctl forward ${p.service} ${p.port}\` reaches it from your machine; an endpoint makes it public`,
  }),
})

const loopback = diagnostic({
  code: 'ports/loopback',
  severity: 'warning',
  loss: true,
  explain:
    'Compose makes a port that is published on a loopback address (`127.0.0.1:8080:80`) reachable on your machine and nowhere else. The containers of a cluster do not run there, so the address is left out: the port is not made public, and other services reach it. `devctl forward web 8080:80` makes it reachable on your machine.',
  text: (p: { service: string; written: Written; port: number; local: number; address: string }) => ({
    message: `${portsOf(p.written)} not made public, because ${isOne(p.written) ? 'it is' : 'they are'} published on \`${p.address}\``,
    hint: `\`devctl forward ${p.service} ${p.local}:${p.port}\` reaches it from your machine`,
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

/**
 * The ports of a service that `ports` makes public; each container port once. Reports those that stay inside, but for
 * those that an endpoint makes public.
 */
export function publicPorts(
  { reporter, names }: PlanContext,
  service: Service,
  routed: readonly EndpointPort[],
): readonly Port[] {
  const found = new Map<number, Port>()
  const name = names.of(service.name)
  const byEndpoint = new Set(routed.map(({ port }) => port))
  const written = writtenItems(service)
  for (const port of service.ports) {
    if (port.published === undefined) continue
    // It has a Service of its own for connections from outside.
    if (port.expose) continue
    const number = publishedPort(port) ?? port.target
    const isRouted = byEndpoint.has(port.target) || byEndpoint.has(number)
    const kind = neverPublic.get(port.target)
    const item = written.get(itemOf(port))!
    // Said once for all ports of an item, since it is the same each time.
    if (port.protocol !== 'TCP') reporter.report(notTcp, port.span, { written: item, protocol: port.protocol })
    else if (port.hostIp && isLoopback(port.hostIp)) {
      const parameters = { service: name, written: item, port: port.target, local: number, address: port.hostIp }
      if (!isRouted) reporter.report(loopback, port.span, parameters)
    } else if (kind) {
      if (!isRouted) reporter.report(guarded, port.span, { service: name, port: port.target, kind })
    } else {
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

const isLoopback = (address: string): boolean => /^127\.|^(::1|0:0:0:0:0:0:0:1)$|^localhost$/.test(address)
