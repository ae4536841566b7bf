import type { ApiObject } from 'cdk8s'
import { Construct } from 'constructs'
import type { ObjectPlan, Plan, WorkloadPlan } from '../compiler/plan/plan.ts'
import { IsolationPolicy } from './isolation-policy.ts'
import { PodTemplates, waiterAccountName } from './pod-templates.ts'
import { GatewayRoute, IngressRoute } from './route.ts'
import { ServiceObject } from './service-object.ts'
import { FileConfigMap, FileSecret, VolumeClaim } from './storage.ts'
import { WaiterAccount } from './waiter-account.ts'
import { ServiceDaemonSet, ServiceDeployment, ServiceJob, ServiceStatefulSet } from './workload.ts'

/** All objects of a plan, made in the order in which they should be applied: what others refer to comes first. */
export class Application extends Construct {
  readonly #sources = new Map<unknown, ObjectPlan>()
  readonly #workloads = new Map<WorkloadPlan, ApiObject>()

  constructor(scope: Construct, id: string, plan: Plan) {
    super(scope, id)
    const { environment } = plan
    const add = (construct: Construct, from: ObjectPlan) => this.#sources.set(construct, from)
    for (const p of plan.configMaps) add(new FileConfigMap(this, `config-${p.name}`, { plan: p, environment }), p)
    for (const p of plan.secrets) add(new FileSecret(this, `secret-${p.name}`, { plan: p, environment }), p)
    for (const p of plan.claims) add(new VolumeClaim(this, `claim-${p.name}`, { plan: p, environment }), p)
    const templates = new PodTemplates(plan)
    for (const workload of plan.workloads) {
      const jobs = waitedJobs(workload, templates)
      if (jobs.length === 0) continue
      const account = accountPlan(workload, plan)
      add(new WaiterAccount(this, `waits-${workload.name}`, { plan: account, environment, jobs }), account)
    }
    for (const p of plan.services) add(new ServiceObject(this, `service-${p.name}`, { plan: p, environment }), p)
    for (const p of plan.workloads) {
      const object = workload(this, p, plan, templates)
      this.#workloads.set(p, object)
      add(object, p)
    }
    for (const p of plan.routes) {
      const Route = p.kind === 'Ingress' ? IngressRoute : GatewayRoute
      add(new Route(this, `route-${p.name}`, { plan: p, environment }), p)
    }
    for (const p of plan.policies) add(new IsolationPolicy(this, `policy-${p.name}`, { plan: p, environment }), p)
  }

  /** The object that a workload of the plan became. */
  protected objectOf(workload: WorkloadPlan): ApiObject {
    const object = this.#workloads.get(workload)
    if (!object) throw new Error(`${workload.name} is no workload of this plan`)
    return object
  }

  /** The plan that an object of this application was made from; the objects of an account are inside its construct. */
  sourceOf(object: ApiObject): ObjectPlan {
    const source = this.#sources.get(object) ?? this.#sources.get(object.node.scope)
    if (!source) throw new Error(`${object.node.path} was made from no plan`)
    return source
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
function waitedJobs(plan: WorkloadPlan, templates: PodTemplates): string[] {
  const services = plan.pod.waits.filter(({ kind }) => kind === 'job').map(({ service }) => service)
  return [...new Set(services.map(templates.jobName))].sort()
}

function accountPlan(plan: WorkloadPlan, { environment }: Plan): ObjectPlan {
  return {
    name: waiterAccountName(environment.name, plan.service),
    source: `${plan.source}.depends_on`,
    service: plan.service,
    span: plan.span,
  }
}
