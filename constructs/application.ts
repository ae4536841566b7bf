import type { ApiObject } from 'cdk8s'
import { Construct } from 'constructs'
import type { ObjectPlan, Plan, WorkloadPlan } from '../compiler/plan/plan.ts'
import { ExternalSecret } from './external-secret.ts'
import { IsolationPolicy } from './isolation-policy.ts'
import { PodTemplates, waiterAccountName } from './pod-templates.ts'
import { GatewayRoute, IngressRoute } from './route.ts'
import { ServiceObject } from './service-object.ts'
import { FileConfigMap, FileSecret, VolumeClaim } from './storage.ts'
import { WaiterAccount } from './waiter-account.ts'
import { ServiceDaemonSet, ServiceDeployment, ServiceJob, ServiceStatefulSet } from './workload.ts'

/** All objects of a plan, made in the order in which they should be applied: what others refer to comes first. */
export class Application extends Construct {
  readonly #workloads = new Map<WorkloadPlan, ApiObject>()

  constructor(scope: Construct, id: string, plan: Plan) {
    super(scope, id)
    const { environment } = plan
    for (const p of plan.configMaps) new FileConfigMap(this, `config-${p.name}`, { plan: p, environment })
    for (const p of plan.secrets) new FileSecret(this, `secret-${p.name}`, { plan: p, environment })
    for (const p of plan.externalSecrets)
      new ExternalSecret(this, `external-secret-${p.name}`, { plan: p, environment })
    for (const p of plan.claims) new VolumeClaim(this, `claim-${p.name}`, { plan: p, environment })
    const templates = new PodTemplates(plan)
    for (const workload of plan.workloads) {
      const jobs = waitedJobs(workload, templates)
      if (jobs.length === 0) continue
      const account = accountPlan(workload, plan)
      new WaiterAccount(this, `waits-${workload.name}`, { plan: account, environment, jobs })
    }
    for (const p of plan.services) new ServiceObject(this, `service-${p.name}`, { plan: p, environment })
    for (const p of plan.workloads) {
      this.#workloads.set(p, workload(this, p, plan, templates))
    }
    for (const p of plan.routes) {
      const Route = p.kind === 'Ingress' ? IngressRoute : GatewayRoute
      new Route(this, `route-${p.name}`, { plan: p, environment })
    }
    for (const p of plan.policies) new IsolationPolicy(this, `policy-${p.name}`, { plan: p, environment })
  }

  /** The object that a workload of the plan became. */
  protected objectOf(workload: WorkloadPlan): ApiObject {
    const object = this.#workloads.get(workload)
    if (!object) throw new Error(`${workload.name} is no workload of this plan`)
    return object
  }
}

function workload(scope: Construct, plan: WorkloadPlan, { environment }: Plan, templates: PodTemplates): ApiObject {
  const id = `workload-${plan.name}`
  const template = templates.of(plan)
  switch (plan.kind) {
    case 'Deployment':
      return new ServiceDeployment(scope, id, { plan, environment, template })
    case 'StatefulSet':
      return new ServiceStatefulSet(scope, id, { plan, environment, template })
    case 'DaemonSet':
      return new ServiceDaemonSet(scope, id, { plan, environment, template })
    case 'Job':
      return new ServiceJob(scope, id, { plan, environment, template, name: templates.jobName(plan.service) })
  }
}

/** The Jobs that a workload's Pods wait for, sorted, each once. */
export function waitedJobs(plan: WorkloadPlan, templates: PodTemplates): string[] {
  const services = plan.pod.waits.filter(({ kind }) => kind === 'job').map(({ service }) => service)
  return [...new Set(services.map(templates.jobName))].sort()
}

/** The account with which a workload's Pods wait for Jobs. */
export function accountPlan(plan: WorkloadPlan, { environment }: Plan): ObjectPlan {
  return {
    name: waiterAccountName(environment.name, plan.service),
    source: `${plan.source}.depends_on`,
    service: plan.service,
    span: plan.span,
  }
}
