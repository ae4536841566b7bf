import * as k8s from 'cdk8s-plus-27/lib/imports/k8s.js'
import type { Construct } from 'constructs'
import type { Environment, ServicePlan } from '../compiler/plan/plan.ts'
import { environmentLabels, objectMeta, selectorLabels } from './labels.ts'

/**
 * A Service, with the name and ports under which Pods are reached. A Service without ports is headless: its name
 * resolves to the Pods, which can be reached on any port.
 */
export class ServiceObject extends k8s.KubeService {
  constructor(scope: Construct, id: string, { plan, environment }: { plan: ServicePlan; environment: Environment }) {
    super(scope, id, serviceProps(plan, environment))
  }
}

/** Returns the JSON of a Service, without a chart. */
export function serviceJson(plan: ServicePlan, environment: Environment): object {
  return k8s.KubeService.manifest(serviceProps(plan, environment))
}

function serviceProps(plan: ServicePlan, environment: Environment): k8s.KubeServiceProps {
  return {
    metadata: objectMeta(plan, environment),
    spec: plan.externalName === undefined ? selecting(plan, environment) : pointingTo(plan.externalName),
  }
}

function selecting(plan: ServicePlan, environment: Environment): k8s.ServiceSpec {
  return {
    selector:
      'service' in plan.selects
        ? selectorLabels(environment, plan.selects.service)
        : { ...environmentLabels(environment), [plan.selects.label]: 'true' },
    type: plan.exposed?.type,
    loadBalancerClass: plan.exposed?.loadBalancerClass,
    loadBalancerSourceRanges: plan.exposed?.sourceRanges.length ? [...plan.exposed.sourceRanges] : undefined,
    publishNotReadyAddresses: plan.publishesNotReady,
    clusterIp: plan.headless || plan.ports.length === 0 ? 'None' : undefined,
    ports: plan.ports.length
      ? plan.ports.map(({ name, port, targetPort, protocol, appProtocol, nodePort }) => ({
          name,
          port,
          targetPort: k8s.IntOrString.fromNumber(targetPort),
          // The server's default is written explicitly, because a controller that merges lists by port and protocol
          // would report a missing protocol as drift.
          protocol,
          appProtocol,
          nodePort,
        }))
      : undefined,
  }
}

function pointingTo(externalName: string): k8s.ServiceSpec {
  return { type: 'ExternalName', externalName }
}
