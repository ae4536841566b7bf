import type { Port, Service } from '../project/project.ts'
import { toAnnotations } from './annotations.ts'
import { type PlanContext, sourceOf } from './context.ts'
import { publishedPort } from './exposure.ts'
import { cutName } from './object-names.ts'
import type { ServicePlan } from './plan.ts'

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
