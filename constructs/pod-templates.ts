import { createHash } from 'node:crypto'
import type { JobPlan, Plan, PodPlan, WorkloadPlan } from '../compiler/plan/plan.ts'
import { waitedServices, waiterAccountName } from '../compiler/plan/waiter-account-name.ts'
import { inReadingOrder } from './key-order.ts'
import { annotations, environmentLabels, RESTARTS_WITH, selectorLabels, standardLabels } from './labels.ts'
import { podPieces } from './piece.ts'
import { type PodTemplate, podTemplateJson } from './pod/newer-fields.ts'
import { toPodSpec } from './pod/pod-spec.ts'

/**
 * The Pod templates of a plan, each created only once. A template that waits for Jobs contains the names of the Jobs,
 * which contain hashes of the Jobs' templates. An annotation contains hashes of the dependencies with which Pods are
 * restarted. The templates of these Jobs and dependencies are therefore created first.
 */
export class PodTemplates {
  readonly #plan: Plan
  readonly #jobs = new Map<string, JobPlan>()
  readonly #workloads = new Map<string, WorkloadPlan>()
  readonly #templates = new Map<WorkloadPlan, PodTemplate>()
  readonly #jobNames = new Map<JobPlan, string>()

  constructor(plan: Plan) {
    this.#plan = plan
    for (const workload of plan.workloads) {
      this.#workloads.set(workload.service, workload)
      if (workload.kind !== 'Job') continue
      for (const service of [workload.service, ...workload.pod.services]) this.#jobs.set(service, workload)
    }
  }

  /**
   * Returns the Pod template of a workload. Uses a stack instead of recursion, because chains of Jobs may be long.
   * Throws an Error if the template of a workload depends on itself.
   */
  of(workload: WorkloadPlan): PodTemplate {
    const open: WorkloadPlan[] = [workload]
    const underway = new Set<WorkloadPlan>()
    for (let next = open.at(-1); next; next = open.at(-1)) {
      const missing = this.#templates.has(next) ? [] : this.#before(next).filter(one => !this.#templates.has(one))
      if (missing.some(one => underway.has(one))) throw new Error(`${next.kind} ${next.name} waits for itself`)
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

  /** Returns the name of a service's Job, which ends in a hash of the Job's content. */
  readonly jobName = (service: string): string => {
    const job = this.#job(service)
    const known = this.#jobNames.get(job)
    if (known !== undefined) return known
    const name = jobName(job, this.of(job))
    this.#jobNames.set(job, name)
    return name
  }

  #job(service: string): JobPlan {
    const job = this.#jobs.get(service)
    if (!job) throw new Error(`the service ${service} is waited for as a Job, but is none`)
    return job
  }

  /**
   * Returns the workloads whose templates have to be created first, because the template of the given workload contains
   * their hashes.
   */
  #before({ pod }: WorkloadPlan): readonly WorkloadPlan[] {
    const jobs = pod.waits.filter(({ kind }) => kind === 'job').map(({ service }) => this.#job(service))
    return [...jobs, ...this.#restartedWith(pod)]
  }

  #restartedWith({ restartsWith = [] }: PodPlan): readonly WorkloadPlan[] {
    return restartsWith.flatMap(service => this.#workloads.get(service) ?? [])
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
      annotations: annotations({ ...workload.pod.annotations, ...this.#restarts(workload.pod) }),
    }
    return { metadata, spec, pieces: podPieces(workload.pod) }
  }

  /**
   * Returns the annotation with the hashes of the dependencies with which the Pods of a workload are restarted. When
   * the Pods of a dependency are replaced, the annotation changes, which also replaces the Pods of the workload.
   */
  #restarts(pod: PodPlan): Readonly<Record<string, string>> {
    const hashes = this.#restartedWith(pod).map(one => `${one.service}=${hashOf(this.#templates.get(one)!)}`)
    return hashes.length > 0 ? { [RESTARTS_WITH]: hashes.join(' ') } : {}
  }
}

/**
 * Returns the name of a Job, at most 63 characters long: `name` and a hash of everything that cannot change in place,
 * which is the rendered Pod template, the number of completions and the fields from `x-kubernetes`. New content results
 * in a new Job, so that no immutable field is ever patched. The hash does not depend on the order of labels or
 * annotations.
 */
function jobName({ name, completions, piece }: JobPlan, template: PodTemplate): string {
  const own = piece?.spec ? `\n${JSON.stringify(piece.spec)}` : ''
  const hash = hashOf(template, completions === undefined ? own : `\n${completions}${own}`)
  return `${name.slice(0, 63 - 9).replace(/[-.]+$/, '')}-${hash}`
}

/** Returns 8 hexadecimal digits that depend on the rendered template and on `more`. */
function hashOf(template: PodTemplate, more = ''): string {
  const rendered = JSON.stringify(inReadingOrder(podTemplateJson(template)))
  return createHash('sha256').update(`${rendered}${more}`).digest('hex').slice(0, 8)
}
