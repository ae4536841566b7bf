import { cutName } from '../compiler/plan/object-names.ts'
import type { JobPlan, Plan, WorkloadPlan } from '../compiler/plan/plan.ts'
import { jobName } from './job-name.ts'
import { annotations, environmentLabels, selectorLabels, standardLabels } from './labels.ts'
import type { PodTemplate } from './pod/newer-fields.ts'
import { toPodSpec } from './pod/pod-spec.ts'

/**
 * The Pod templates of a plan, each made once. A Job is named after its template, and a template
 * that waits for Jobs holds their names, so those are made first.
 */
export class PodTemplates {
  readonly #plan: Plan
  readonly #jobs = new Map<string, JobPlan>()
  readonly #templates = new Map<WorkloadPlan, PodTemplate>()
  readonly #jobNames = new Map<JobPlan, string>()

  constructor(plan: Plan) {
    this.#plan = plan
    for (const workload of plan.workloads) {
      if (workload.kind !== 'Job') continue
      for (const service of [workload.service, ...workload.pod.services]) this.#jobs.set(service, workload)
    }
  }

  /**
   * The Pod template of a workload of the plan. A list instead of recursion, since chains of Jobs
   * may be long.
   */
  of(workload: WorkloadPlan): PodTemplate {
    const open: WorkloadPlan[] = [workload]
    const underway = new Set<WorkloadPlan>()
    for (let next = open.at(-1); next; next = open.at(-1)) {
      const missing = this.#templates.has(next) ? [] : this.#waitedJobs(next).filter(job => !this.#templates.has(job))
      if (missing.some(job => underway.has(job))) throw new Error(`the Job ${next.name} waits for itself`)
      if (missing.length) {
        underway.add(next)
        open.push(...missing)
      } else {
        if (!this.#templates.has(next)) this.#templates.set(next, this.#make(next))
        underway.delete(next)
        open.pop()
      }
    }
    return this.#templates.get(workload)!
  }

  /** The real name of the Job that a service became. */
  readonly jobName = (service: string): string => {
    const job = this.#job(service)
    const known = this.#jobNames.get(job)
    if (known !== undefined) return known
    const name = jobName(job.name, this.of(job), job.completions)
    this.#jobNames.set(job, name)
    return name
  }

  #job(service: string): JobPlan {
    const job = this.#jobs.get(service)
    if (!job) throw new Error(`the service ${service} is waited for as a Job, but is none`)
    return job
  }

  #waitedJobs(workload: WorkloadPlan): JobPlan[] {
    return workload.pod.waits.filter(({ kind }) => kind === 'job').map(({ service }) => this.#job(service))
  }

  #make(workload: WorkloadPlan): PodTemplate {
    const { environment } = this.#plan
    const labels = standardLabels(environment, workload.service)
    const spec = toPodSpec(workload.pod, {
      identity: {
        environment: environmentLabels(environment),
        workload: selectorLabels(environment, workload.service),
      },
      labels,
      restartPolicy: workload.kind === 'Job' ? workload.restartPolicy : undefined,
      jobName: this.jobName,
      waiterAccount: waiterAccountName(environment.name, waitedServices(workload)),
    })
    const metadata = {
      labels: { ...workload.pod.labels, ...labels },
      annotations: annotations(workload.pod.annotations),
    }
    return { metadata, spec }
  }
}

/** The services that a workload waits for as Jobs, sorted, each once. */
export const waitedServices = ({ pod }: WorkloadPlan): readonly string[] =>
  [...new Set(pod.waits.flatMap(({ kind, service }) => (kind === 'job' ? [service] : [])))].sort()

/**
 * The name of the ServiceAccount, Role and RoleBinding with which Pods wait for the Jobs of services, whose names have
 * no dots. Workloads that wait for the same ones share it. The others have their own, so that a deploy of some services
 * changes no right of those that it leaves alone.
 */
export const waiterAccountName = (environment: string, services: readonly string[]): string =>
  cutName(`${environment}-waits-for-${services.join('.')}`, 253)
