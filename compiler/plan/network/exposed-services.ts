import type { Port, PortExposure, Service } from '../../compose/project.ts'
import { diagnostic } from '../../diagnostics/diagnostic.ts'
import type { Span } from '../../text/source.ts'
import { type PlanContext, sortBy, sourceOf } from '../context.ts'
import { toAnnotations } from '../labels/annotations.ts'
import { cutName } from '../object-names.ts'
import type { ServicePlan } from '../plan.ts'
import { isCutOff, isInternal } from './public-ports.ts'
import { publishedPort } from './published-port.ts'

const sameNodePort = diagnostic({
  code: 'ports/same-node-port',
  severity: 'error',
  explain:
    'A `nodePort` is opened on every node of the cluster and belongs to one Service: the API server refuses a second one with the same number and protocol. Give each port its own, or remove `nodePort`, and the cluster chooses one.',
  text: (p: { port: number }) => ({
    message: `the node port ${p.port} is used twice`,
    hint: 'choose another one from the range of the cluster, 30000 to 32767 by default, or remove it',
  }),
})

const exposedTwice = diagnostic({
  code: 'ports/exposed-twice',
  severity: 'error',
  explain:
    'Ports with the same `x-expose` type become ports of one Service, with their published numbers. The API server refuses a Service with the same number and protocol twice. Publish them under different numbers.',
  text: (p: { service: string; port: number; protocol: string }) => ({
    message: `\`${p.service}\` exposes the port ${p.port}/${p.protocol.toLowerCase()} twice`,
    hint: 'publish one of them under another number',
  }),
})

const SUFFIX = { LoadBalancer: 'loadbalancer', NodePort: 'nodeport' } as const

/**
 * Plans the additional Services that make ports with `x-expose` reachable from outside the cluster; the service's own
 * Service keeps its name inside the cluster. Plans one Service for each type, and a separate one for each port with a
 * different class, source ranges or annotations, because these settings apply to all ports of a Service. Adds the names
 * of the Services to `taken`.
 */
export function planExposedServices(
  context: PlanContext,
  service: Service,
  lead: string,
  taken: Set<string>,
): readonly ServicePlan[] {
  return (['LoadBalancer', 'NodePort'] as const).flatMap(type => {
    const ports = service.ports.flatMap(port =>
      port.expose?.type === type && !isCutOff(context, service, port.span) && !isInternal(context, service, port)
        ? [{ ...port, expose: port.expose }]
        : [],
    )
    const prefix = `${context.names.of(service.name)}-${SUFFIX[type]}`
    return alike(ports).map((own, index) => {
      reportExposedTwice(context, service, own)
      const name = freeName(index === 0 ? prefix : `${prefix}-${outsidePort(own[0])}`, taken)
      return planExposedService(context, service, { lead, name, type, ports: own })
    })
  })
}

function reportExposedTwice({ reporter }: PlanContext, { name }: Service, ports: readonly ExposedPort[]): void {
  const seen = new Map<string, Span>()
  for (const port of ports) {
    const { protocol, span } = port
    const number = outsidePort(port)
    const first = seen.get(`${number}/${protocol}`)
    if (!first) seen.set(`${number}/${protocol}`, span)
    else
      reporter.report(exposedTwice, span, { service: name, port: number, protocol }, [
        { span: first, message: 'the other port is here' },
      ])
  }
}

type ExposedPort = Port & { readonly expose: PortExposure }
type ExposedPorts = readonly [ExposedPort, ...ExposedPort[]]

/**
 * Groups the ports that can share one Service, in the order of the file. Ports without settings join the group of the
 * first port with settings.
 */
function alike(ports: readonly ExposedPort[]): readonly ExposedPorts[] {
  const found = new Map<string, [ExposedPort, ...ExposedPort[]]>()
  const usual = ports.map(settingsOf).find(settings => settings !== '')
  for (const port of ports) {
    const settings = settingsOf(port) || (usual ?? '')
    const others = found.get(settings)
    if (others) others.push(port)
    else found.set(settings, [port])
  }
  return [...found.values()]
}

/**
 * Returns the settings of a port that apply to a Service as a whole, as a text to compare. Empty if the port has no
 * such settings.
 */
function settingsOf({ expose: { loadBalancerClass, sourceRanges, annotations } }: ExposedPort): string {
  if (loadBalancerClass === undefined && sourceRanges.length + annotations.length === 0) return ''
  const pairs = sortBy(annotations, ({ name }) => name).map(({ name, value }) => [name, value])
  return JSON.stringify([loadBalancerClass, [...sourceRanges].sort(), pairs])
}

function planExposedService(
  context: PlanContext,
  service: Service,
  {
    lead,
    name,
    type,
    ports,
  }: {
    readonly lead: string
    readonly name: string
    readonly type: PortExposure['type']
    readonly ports: ExposedPorts
  },
): ServicePlan {
  const [first] = ports
  const { expose } = ports.find(port => settingsOf(port) !== '') ?? first
  const { annotations, loadBalancerClass, sourceRanges } = expose
  return {
    name,
    service: context.names.of(service.name),
    source: sourceOf(context, first.span, ['services', service.name, 'ports']),
    span: first.expose.span,
    annotations: toAnnotations(context, annotations, service.labels),
    selects: { service: lead },
    ports: ports.map(toPort),
    headless: false,
    exposed: { type, sourceRanges, ...(loadBalancerClass !== undefined && { loadBalancerClass }) },
  }
}

/** Reports a `nodePort` that another port of the application already uses with the same protocol. */
export function reportSameNodePorts({ project, reporter }: PlanContext): void {
  const first = new Map<string, Span>()
  for (const { ports } of project.services.values())
    for (const { expose, protocol } of ports) {
      if (expose?.nodePort === undefined) continue
      const key = `${expose.nodePort}/${protocol}`
      const other = first.get(key)
      if (!other) first.set(key, expose.span)
      else
        reporter.report(sameNodePort, expose.span, { port: expose.nodePort }, [
          { span: other, message: 'the other port is here' },
        ])
    }
}

function toPort(port: Port) {
  const { nodePort } = port.expose ?? {}
  return {
    name: `${port.protocol.toLowerCase()}-${outsidePort(port)}`,
    port: outsidePort(port),
    targetPort: port.target,
    protocol: port.protocol,
    ...(nodePort !== undefined && { nodePort }),
  }
}

const outsidePort = (port: Port): number => publishedPort(port) ?? port.target

/**
 * Returns `wanted`, or `wanted` with a number at the end if that name is already taken. Adds the result to `taken`. The
 * number changes the name of the new object, so that Services and aliases of the files keep their names.
 */
export function freeName(wanted: string, taken: Set<string>): string {
  let name = cutName(wanted, 63)
  for (let number = 2; taken.has(name); number++) name = cutName(`${wanted}-${number}`, 63)
  taken.add(name)
  return name
}
