import type { Protocol, Service } from '../../compose/project.ts'
import { diagnostic } from '../../diagnostics/diagnostic.ts'
import type { Span } from '../../text/source.ts'
import { isAnnotationKey } from '../../values/annotation.ts'
import type { PlanContext } from '../context.ts'
import { slug } from '../object-names.ts'
import type { ContainerPort, ServicePort } from '../plan.ts'
import { exposedByImage, imageFacts } from '../pod/image-facts.ts'
import type { Mention, Mentions } from '../secrets/mentions.ts'
import { wellKnownPort } from './image-ports.ts'
import { hostModePorts } from './internal-networks.ts'
import { publishedPort } from './published-port.ts'
import { debuggerPorts } from './route-ports.ts'

const byMention = diagnostic({
  code: 'ports/by-mention',
  severity: 'info',
  explain: `Another service uses this port, but the service itself does not list it. A Service in Kubernetes forwards only the ports that it lists, so devctl added the port.

\`\`\`yaml
services:
  cache:
    image: redis:7
    expose: ["6379"]     # lists the port explicitly
  web:
    environment:
      REDIS_URL: redis://cache:6379
\`\`\``,
  text: (p: { service: string; port: number; where: string }) => ({
    message: `port ${p.port} of \`${p.service}\` is opened because ${p.where} uses it`,
    hint: `add \`expose: ["${p.port}"]\` to \`${p.service}\``,
  }),
})

const unknownPort = diagnostic({
  code: 'ports/unknown-use',
  severity: 'warning',
  explain: `A Service in Kubernetes forwards only the ports that it lists. Another service names this one as a host without a port, and devctl knows neither the image nor what it exposes: a client that uses another port than the listed ones gets no connection, while in Compose every port is reachable. List the port that it uses.

\`\`\`yaml
services:
  store:
    image: example.com/store
    ports: ["9001:9001"]
    expose: ["9000"]      # the port that app uses
  app:
    environment: {STORE_HOST: store}
\`\`\``,
  text: (p: { service: string; where: string; ports: readonly number[] }) => ({
    message: `${p.where} uses \`${p.service}\` without a port, and only ${p.ports.length === 1 ? `port ${p.ports[0]} is` : `the ports ${p.ports.join(', ')} are`} reachable`,
    hint: `if the client uses another port, add \`expose: ["PORT"]\` to \`${p.service}\``,
  }),
})

const portRange = diagnostic({
  code: 'ports/published-range',
  severity: 'warning',
  loss: true,
  explain:
    'With a range of published ports the container engine chooses a free port of its machine. Kubernetes has no equivalent: the service is reachable at its name and container port, and at its public address. The range is left out.',
  text: (p: { published: string; target: number }) => ({
    message: `the published range \`${p.published}\` has no equivalent in Kubernetes; the port is ${p.target}`,
    hint: `write one port, for example \`${p.published.split('-')[0]}:${p.target}\``,
  }),
})

const hostMode = diagnostic({
  code: 'ports/host-mode',
  severity: 'warning',
  loss: true,
  explain:
    '`mode: host` publishes the port on the node that the container runs on. It becomes a `hostPort`: reachable at that node only, at most one Pod per node, one port for each container port, and refused by the Pod Security levels `baseline` and `restricted`.',
  text: (p: { port: number; target: number; first: number | undefined }) => ({
    message:
      p.first === undefined
        ? `\`mode: host\` opens port ${p.port} on the node where the Pod runs`
        : `\`mode: host\` does not open port ${p.port} on the node, because port ${p.first} already leads to port ${p.target}`,
    hint: 'remove `mode: host`: other services and the public address do not need it',
  }),
})

const badProtocol = diagnostic({
  code: 'ports/app-protocol',
  severity: 'warning',
  loss: true,
  explain:
    'An application protocol in Kubernetes is an IANA service name (`http`, `https`, `grpc`), or a name with a prefix such as `example.com/my-protocol`: letters, digits, `-`, `_` and `.`. Kubernetes refuses others, so the value is left out. It is only a hint for load balancers.',
  text: (p: { name: string }) => ({
    message: `\`${p.name}\` is not a valid application protocol and is left out`,
    hint: 'write a name such as `http` or `grpc`',
  }),
})

/** Warning for published ports that a headless Service cannot translate to container ports. */
const headlessPort = diagnostic({
  code: 'ports/headless',
  severity: 'warning',
  explain: `With \`endpoint_mode: dnsrr\` the name of the service resolves to the addresses of its Pods, and nothing translates a published port to the container port: other services reach the container port only. Without \`dnsrr\` both work.

\`\`\`yaml
ports: ["8080:80"]
deploy: {endpoint_mode: dnsrr}    # http://web:80, not http://web:8080
\`\`\``,
  text: (p: { service: string; published: number; target: number }) => ({
    message: `\`${p.service}:${p.published}\` is not reachable: with \`endpoint_mode: dnsrr\` the port is ${p.target}`,
    hint: `use port ${p.target}, or remove \`endpoint_mode: dnsrr\``,
  }),
})

export interface Exposure {
  readonly containerPorts: readonly ContainerPort[]
  /** Ports of the Service. If empty, no port is known, and the Service is headless. */
  readonly servicePorts: readonly ServicePort[]
  /** TCP ports of the Service that show if the service is available: one of them must accept a connection. */
  readonly waitPorts: readonly number[]
}

interface KnownPort {
  readonly port: number
  readonly protocol: Protocol
  readonly name?: string | undefined
  readonly appProtocol?: string | undefined
  readonly hostPort?: number | undefined
}

/** A port that an endpoint rule routes to. */
export interface EndpointPort {
  readonly port: number
  readonly span: Span
}

interface ExposureFacts {
  readonly mentions: Mentions
  readonly endpoints: readonly EndpointPort[]
  /** True if the Pod of the service uses the network of its node. */
  readonly isOnNode: boolean
}

/**
 * Collects the ports of a service: `ports`, `expose`, `healthcheck.http.port`, endpoint rules, EXPOSE of the image if
 * known, and ports that peers mention. Reports ports that are known only because a peer mentions them, and published
 * ranges.
 */
export function planExposure(
  context: PlanContext,
  service: Service,
  { mentions, endpoints, isOnNode }: ExposureFacts,
): Exposure {
  const { reporter } = context
  const known = new Map<string, KnownPort>()
  const add = (port: KnownPort) => {
    const key = `${port.port}/${port.protocol}`
    if (!known.has(key)) known.set(key, port)
  }
  const addItem = (port: KnownPort) => {
    const key = `${port.port}/${port.protocol}`
    known.set(key, merge(known.get(key), port))
  }
  const openOnNode = new Set(hostModePorts(context.project, service))
  for (const port of service.ports) {
    // Kubernetes allows a Pod on the network of its node no port of the node other than the container port.
    const hostPort = openOnNode.has(port) ? (isOnNode ? port.target : publishedPort(port)) : undefined
    if (hostPort !== undefined) {
      const first = known.get(`${port.target}/${port.protocol}`)?.hostPort
      const parameters = { port: hostPort, target: port.target, first: first === hostPort ? undefined : first }
      reporter.report(hostMode, port.span, parameters)
    }
    if (port.published?.includes('-'))
      reporter.report(portRange, port.span, { published: port.published, target: port.target })
    if (port.appProtocol !== undefined && !isQualifiedName(port.appProtocol))
      reporter.report(badProtocol, port.span, { name: port.appProtocol })
    addItem({ port: port.target, protocol: port.protocol, name: port.name, appProtocol: port.appProtocol, hostPort })
  }
  checkHeadless(context, service)
  for (const { value } of service.expose) add(value)
  const check = service.healthcheck?.check
  if (check?.kind === 'http') add({ port: check.port, protocol: 'TCP' })
  const published = publishedPorts(service, known)
  // True for ports that the Service already serves, including published ports.
  const isServed = (port: number) =>
    known.has(`${port}/TCP`) || published.some(p => p.port === port && p.protocol === 'TCP')
  for (const { port } of endpoints) if (!isServed(port)) add({ port, protocol: 'TCP' })
  for (const port of exposedByImage(context, service)) add(port)
  const open = (port: number, { span, where }: Mention) => {
    if (isServed(port) || known.has(`${port}/UDP`)) return
    reporter.report(byMention, span, { service: service.name, port, where })
    add({ port, protocol: 'TCP' })
  }
  const mentioned = mentions.of(service.name)
  for (const mention of mentioned) if (mention.port) open(mention.port, mention)
  // A Service without ports is headless and reaches every port, so only one with ports can lack the port.
  const portless = known.size > 0 ? mentioned.find(({ port, isHost }) => isHost && !port) : undefined
  if (portless) {
    const port = wellKnownPort(service.image?.value)
    if (port !== undefined) open(port, portless)
    else if (!imageFacts(context, service) && !mentioned.some(({ port }) => port))
      reporter.report(unknownPort, portless.span, {
        service: service.name,
        where: portless.where,
        ports: [...known.values()].map(({ port }) => port),
      })
  }
  return toExposure(service, [...known.values()], published)
}

/** Returns a container port with the settings of two items of `ports`. Where both have one, the first item wins. */
const merge = (first: KnownPort | undefined, port: KnownPort): KnownPort => ({
  ...port,
  name: first?.name ?? port.name,
  appProtocol: first?.appProtocol ?? port.appProtocol,
  hostPort: first?.hostPort ?? port.hostPort,
})

/** Reports published ports that a headless Service cannot serve, because they differ from every container port. */
function checkHeadless({ reporter }: PlanContext, service: Service): void {
  if (service.deploy.endpointMode?.value !== 'dnsrr') return
  const targets = new Set(service.ports.map(({ target, protocol }) => `${target}/${protocol}`))
  for (const port of service.ports) {
    const published = publishedPort(port)
    if (published !== undefined && !targets.has(`${published}/${port.protocol}`))
      reporter.report(headlessPort, port.span, { service: service.name, published, target: port.target })
  }
}

function toExposure(service: Service, known: readonly KnownPort[], published: readonly PublishedPort[]): Exposure {
  const names = portNames(known)
  const containerPorts = known.map(port => ({
    name: names.get(port)!,
    port: port.port,
    protocol: port.protocol,
    ...(port.hostPort !== undefined && { hostPort: port.hostPort }),
  }))
  const own = known.map(port => ({
    name: names.get(port)!,
    port: port.port,
    targetPort: port.port,
    protocol: port.protocol,
    ...appProtocol(port.appProtocol),
  }))
  const taken = new Set(known.map(({ port, protocol }) => `${port}/${protocol}`))
  const extra = published.flatMap(port => {
    const key = `${port.port}/${port.protocol}`
    if (taken.has(key)) return []
    taken.add(key)
    const name = freeName(defaultName(port), new Set(names.values()))
    return [
      { name, port: port.port, targetPort: port.target, protocol: port.protocol, ...appProtocol(port.appProtocol) },
    ]
  })
  return {
    containerPorts: containerPorts.sort(byPort),
    servicePorts: [...own, ...extra].sort(byPort),
    waitPorts: choosePortsToWait(service, known),
  }
}

/**
 * Returns the TCP ports that show if a service is available: the port of an HTTP healthcheck or, without one, all TCP
 * ports, in the order of the file, because some of them may be optional. Returns debugger ports only if there is no
 * other TCP port.
 */
function choosePortsToWait(service: Service, known: readonly KnownPort[]): readonly number[] {
  const check = service.healthcheck?.check
  if (check?.kind === 'http') return [check.port]
  const tcp = known.flatMap(({ port, protocol }) => (protocol === 'TCP' ? [port] : []))
  const serving = tcp.filter(port => !debuggerPorts.has(port))
  return serving.length > 0 ? serving : tcp
}

interface PublishedPort extends KnownPort {
  readonly target: number
}

/**
 * Returns the published ports that differ from every container port. Other services can use them in addition to the
 * container ports.
 */
function publishedPorts(service: Service, known: ReadonlyMap<string, KnownPort>): readonly PublishedPort[] {
  return service.ports.flatMap(port => {
    const number = publishedPort(port)
    if (number === undefined || known.has(`${number}/${port.protocol}`)) return []
    return [{ port: number, target: port.target, protocol: port.protocol, appProtocol: port.appProtocol }]
  })
}

const defaultName = ({ port, protocol }: Pick<KnownPort, 'port' | 'protocol'>) => `${protocol.toLowerCase()}-${port}`

/**
 * Names the ports: uses the name in the file, adapted to Kubernetes (at most 15 characters, at least one letter),
 * otherwise a name such as `tcp-80`.
 */
function portNames(known: readonly KnownPort[]): ReadonlyMap<KnownPort, string> {
  const names = new Map<KnownPort, string>()
  const taken = new Set<string>()
  for (const port of known) {
    const written = port.name && slug(port.name).replace(/-{2,}/g, '-').slice(0, 15).replace(/-$/, '')
    const name = freeName(written && /[a-z]/.test(written) && !taken.has(written) ? written : defaultName(port), taken)
    names.set(port, name)
    taken.add(name)
  }
  return names
}

function freeName(wanted: string, taken: ReadonlySet<string>): string {
  let name = wanted
  for (let number = 2; taken.has(name); number++) name = `${wanted.slice(0, 12)}-${number}`
  return name
}

/** True for a valid protocol name, which, like an annotation key, is a qualified name in Kubernetes. */
const isQualifiedName = isAnnotationKey

/**
 * Returns the `appProtocol` of a port. Protocols without an IANA name carry Kubernetes' prefix:
 * https://kubernetes.io/docs/concepts/services-networking/service/#application-protocol
 */
function appProtocol(name: string | undefined): { readonly appProtocol?: string } {
  if (name === undefined || !isQualifiedName(name)) return {}
  return { appProtocol: ['h2c', 'ws', 'wss'].includes(name) ? `kubernetes.io/${name}` : name }
}

export const byPort = (
  a: { readonly port: number; readonly protocol: string },
  b: { readonly port: number; readonly protocol: string },
): number => a.port - b.port || (a.protocol < b.protocol ? -1 : a.protocol > b.protocol ? 1 : 0)
