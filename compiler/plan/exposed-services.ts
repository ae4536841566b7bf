import { diagnostic } from '../diagnostics/diagnostic.ts'
import type { Port, Service } from '../project/project.ts'
import type { Span } from '../syntax/source.ts'
import { toAnnotations } from './annotations.ts'
import { type PlanContext, sourceOf } from './context.ts'
import { publishedPort } from './exposure.ts'
import { cutName } from './object-names.ts'
import type { ServicePlan } from './plan.ts'

const sameNodePort = diagnostic({
  code: 'ports/same-node-port',
  severity: 'error',
  explain:
    'A `nodePort` is a port of every node of the cluster, and leads to one Service: the API server refuses a second one with the same number and protocol. Give each port its own, or leave `nodePort` out, and the cluster chooses one.',
  text: (p: { port: number }) => ({
    message: `the node port ${p.port} is given to two ports`,
    hint: 'choose another one from the range of the cluster, 30000 to 32767 by default, or leave it out',
  }),
})

const SUFFIX = { LoadBalancer: 'loadbalancer', NodePort: 'nodeport' } as const

/**
 * The Services by which ports with `x-expose` are reached from outside (decisions section 4, "Outside HTTP"): one for
 * each type, beside the service's own, whose name inside of the cluster stays as it is.
 */
export function planExposedServices(
  context: PlanContext,
  service: Service,
  lead: string,
  isTaken: (name: string) => boolean,
): readonly ServicePlan[] {
  return (['LoadBalancer', 'NodePort'] as const).flatMap(type => {
    const ports = service.ports.filter(({ expose }) => expose?.type === type)
    const [first] = ports
    if (!first?.expose) return []
    const own = context.names.of(service.name)
    const settings = ports.map(({ expose }) => expose!)
    const loadBalancerClass = settings.find(one => one.loadBalancerClass !== undefined)?.loadBalancerClass
    return {
      name: freeName(`${own}-${SUFFIX[type]}`, isTaken),
      service: own,
      source: sourceOf(context, first.span, `services.${service.name}.ports`),
      span: first.expose.span,
      annotations: toAnnotations(context, ...settings.map(({ annotations }) => annotations), service.labels),
      selects: { service: lead },
      ports: ports.map(port => toPort(port)),
      headless: false,
      exposed: {
        type,
        sourceRanges: settings.flatMap(({ sourceRanges }) => sourceRanges),
        ...(loadBalancerClass !== undefined && { loadBalancerClass }),
      },
    }
  })
}

/** Reports a `nodePort` that another port of the application has, for the same protocol. */
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
    name: `${port.protocol.toLowerCase()}-${publishedPort(port) ?? port.target}`,
    port: publishedPort(port) ?? port.target,
    targetPort: port.target,
    protocol: port.protocol,
    ...(nodePort !== undefined && { nodePort }),
  }
}

/** Services and aliases of the files keep their names. */
function freeName(wanted: string, isTaken: (name: string) => boolean): string {
  let name = cutName(wanted, 63)
  for (let number = 2; isTaken(name); number++) name = cutName(`${wanted}-${number}`, 63)
  return name
}
