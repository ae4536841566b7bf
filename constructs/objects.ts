import type { ApiObject } from 'cdk8s'
import type { Construct } from 'constructs'
import type { CronJobPlan, Environment, JobPlan, ObjectPlan, Plan, WorkloadPlan } from '../compiler/plan/plan.ts'
import { waitedServices, waiterAccountName } from '../compiler/plan/waiter-account-name.ts'
import { autoscalerJson, WorkloadAutoscaler } from './autoscaler.ts'
import { cronJobJson, ServiceCronJob } from './cron-job.ts'
import { EnvironmentObject, PodAccount, podAccountJson, wholeObjectJson } from './environment-object.ts'
import { ExternalSecret, externalSecretJson } from './external-secret.ts'
import { IsolationPolicy, policyJson } from './isolation-policy.ts'
import { PodTemplates } from './pod-templates.ts'
import { GatewayRoute, IngressRoute, routeJson } from './route.ts'
import { ServiceObject, serviceJson } from './service-object.ts'
import { claimJson, configMapJson, FileConfigMap, FileSecret, secretJson, VolumeClaim } from './storage.ts'
import { WaiterAccount, waiterAccountJson } from './waiter-account.ts'
import { ServiceDaemonSet, ServiceDeployment, ServiceJob, ServiceStatefulSet, workloadJson } from './workload.ts'

/** Input for creating any object of a plan. In addition, each object gets its own part of the plan. */
export interface Making {
  readonly plan: Plan
  readonly environment: Environment
  readonly templates: PodTemplates
}

export const makingOf = (plan: Plan): Making => ({
  plan,
  environment: plan.environment,
  templates: new PodTemplates(plan),
})

/** Functions that create the objects of a kind, or several related objects, from a plan. */
interface ObjectsOf<P extends ObjectPlan> {
  /** Prefix of the construct ids, such as `config` in `config-page`. */
  readonly id: string
  readonly plans: (making: Making) => readonly P[]
  readonly construct: (scope: Construct, id: string, plan: P, making: Making) => Construct
  /**
   * Creates the objects without a chart. `bare` is `plan` without annotations, because the typed classes are slow with
   * maps. The annotations are added to the objects afterwards.
   */
  readonly json: (bare: P, making: Making, plan: P) => readonly object[]
}

/** Creates all objects of one kind, or of a few related kinds: as constructs for `Application`, as JSON for `synth`. */
export interface Objects {
  /** Creates the constructs, and calls `made` for each of them. */
  construct(scope: Construct, making: Making, made: (plan: ObjectPlan, construct: Construct) => void): void
  /** Creates the JSON, and calls `made` for each object. */
  json(making: Making, made: (plan: ObjectPlan, json: object) => void): void
}

function objects<P extends ObjectPlan>({ id, plans, construct, json }: ObjectsOf<P>): Objects {
  return {
    construct(scope, making, made) {
      for (const plan of plans(making)) made(plan, construct(scope, `${id}-${plan.name}`, plan, making))
    },
    json(making, made) {
      for (const plan of plans(making))
        for (const one of json({ ...plan, annotations: undefined }, making, plan)) made(plan, one)
    },
  }
}

/** Returns the operations for objects that depend only on their own part of the plan and on the environment. */
const plain = <P extends ObjectPlan>(
  id: string,
  plans: (plan: Plan) => readonly P[],
  Class: new (scope: Construct, id: string, props: { plan: P; environment: Environment }) => Construct,
  json: (plan: P, environment: Environment) => object,
): Objects =>
  objects({
    id,
    plans: ({ plan }) => plans(plan),
    construct: (scope, id, plan, { environment }) => new Class(scope, id, { plan, environment }),
    json: (bare, { environment }) => [json(bare, environment)],
  })

/**
 * All objects of a plan in print order: objects that other objects refer to come first. A new kind needs a row here and
 * one in `kinds.ts`.
 */
export const OBJECTS: readonly Objects[] = [
  plain('config', plan => plan.configMaps, FileConfigMap, configMapJson),
  plain('secret', plan => plan.secrets, FileSecret, secretJson),
  plain('external-secret', plan => plan.externalSecrets, ExternalSecret, externalSecretJson),
  plain('claim', plan => plan.claims, VolumeClaim, claimJson),
  plain('account', plan => plan.serviceAccounts, PodAccount, podAccountJson),
  objects({
    id: 'waits',
    plans: accounts,
    construct: (scope, id, plan, { environment }) => new WaiterAccount(scope, id, { ...plan, plan, environment }),
    json: (bare, { environment }) => waiterAccountJson({ ...bare, plan: bare, environment }),
  }),
  plain('service', plan => plan.services, ServiceObject, serviceJson),
  objects({
    id: 'workload',
    plans: ({ plan }) => plan.workloads.filter(one => !isScheduled(one)),
    construct: workload,
    json: (bare, { environment, templates }, plan) => [
      workloadJson(
        bare,
        environment,
        templates.of(plan),
        plan.kind === 'Job' ? templates.jobName(plan.service) : plan.name,
      ),
    ],
  }),
  objects({
    id: 'cron-job',
    plans: ({ plan }) => plan.workloads.flatMap(cronJobsOf),
    construct: (scope, id, { job, ...plan }, { environment, templates }) =>
      new ServiceCronJob(scope, id, { plan, job, environment, template: templates.of(job) }),
    json: ({ job: _, ...bare }, { environment, templates }, { job }) => [
      cronJobJson({ plan: bare, job, environment, template: templates.of(job) }),
    ],
  }),
  plain('autoscaler', plan => plan.autoscalers, WorkloadAutoscaler, autoscalerJson),
  objects({
    id: 'route',
    plans: ({ plan }) => plan.routes,
    construct: (scope, id, plan, { environment }) => {
      const Route = plan.kind === 'Ingress' ? IngressRoute : GatewayRoute
      return new Route(scope, id, { plan, environment })
    },
    json: (bare, { environment }) => [routeJson(bare, environment)],
  }),
  plain('policy', plan => plan.policies, IsolationPolicy, policyJson),
  plain('object', plan => plan.objects, EnvironmentObject, wholeObjectJson),
]

const isScheduled = (plan: WorkloadPlan): plan is JobPlan & Required<Pick<JobPlan, 'cronJobs'>> =>
  plan.kind === 'Job' && plan.cronJobs !== undefined

/** Plan of a CronJob, with the job that it runs. */
interface ScheduledPlan extends CronJobPlan {
  readonly job: JobPlan
}

const cronJobsOf = (job: WorkloadPlan): readonly ScheduledPlan[] =>
  isScheduled(job) ? job.cronJobs.map(one => ({ ...one, job })) : []

/** Returns the job that a CronJob runs; undefined for any other object. */
export const jobOf = (plan: ObjectPlan | ScheduledPlan): JobPlan | undefined => ('job' in plan ? plan.job : undefined)

function workload(scope: Construct, id: string, plan: WorkloadPlan, { environment, templates }: Making): ApiObject {
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

/** Plan of a ServiceAccount that lets Pods wait for Jobs. */
interface AccountPlan extends ObjectPlan {
  /** Distinct names of the Jobs, sorted. */
  readonly jobs: readonly string[]
  /** Names of other ServiceAccounts with which Pods wait for these Jobs, sorted. */
  readonly accounts: readonly string[]
}

function accounts({ plan: { workloads }, environment, templates }: Making): readonly AccountPlan[] {
  const found = new Map<string, AccountPlan>()
  for (const workload of workloads) {
    const waited = waitedServices(workload)
    if (waited.length === 0) continue
    const { service, source, waitsSource = source, span } = workload
    const name = waiterAccountName(environment.name, waited)
    const other = found.get(name)
    const { serviceAccount } = workload.pod
    const accounts = [...new Set([...(other?.accounts ?? []), ...(serviceAccount ? [serviceAccount] : [])])].sort()
    const jobs = [...new Set(waited.map(templates.jobName))].sort()
    // An account that several workloads share belongs to none of them.
    found.set(name, {
      ...(other ? withoutService(other) : { name, source: waitsSource, service, span, jobs }),
      accounts,
    })
  }
  return [...found.values()]
}

const withoutService = ({ service: _, ...plan }: AccountPlan): AccountPlan => plan
