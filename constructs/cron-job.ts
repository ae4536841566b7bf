import * as k8s from 'cdk8s-plus-27/lib/imports/k8s.js'
import type { Construct } from 'constructs'
import type { CronJobPlan, Environment, JobPlan } from '../compiler/plan/plan.ts'
import { objectMeta, standardLabels } from './labels.ts'
import { addMaps, addNewerFields, type PodTemplate, withoutMaps } from './pod/newer-fields.ts'

/** Number of successful runs, and of failed runs, that a CronJob keeps with their logs. */
const HISTORY = { successfulJobsHistoryLimit: 3, failedJobsHistoryLimit: 3 }

interface CronJobInput {
  readonly plan: CronJobPlan
  readonly job: JobPlan
  readonly environment: Environment
  readonly template: PodTemplate
}

/** A CronJob for a service that runs on a schedule, or when users start it. */
export class ServiceCronJob extends k8s.KubeCronJob {
  readonly #template: PodTemplate

  constructor(scope: Construct, id: string, input: CronJobInput) {
    super(scope, id, cronJobProps(input))
    this.#template = input.template
  }

  override toJson() {
    const json = super.toJson()
    addNewerFields(json.spec.jobTemplate.spec.template, this.#template)
    return json
  }
}

/** Returns the JSON of a CronJob, without a chart. */
export function cronJobJson(input: CronJobInput): object {
  const json = k8s.KubeCronJob.manifest(cronJobProps({ ...input, template: withoutMaps(input.template) }))
  const { template } = json.spec.jobTemplate.spec
  addMaps(template, input.template.metadata)
  addNewerFields(template, input.template)
  return json
}

function cronJobProps({ plan, job, environment, template }: CronJobInput): k8s.KubeCronJobProps {
  return {
    metadata: objectMeta(plan, environment),
    spec: {
      schedule: plan.schedule,
      timeZone: plan.timeZone,
      suspend: plan.suspended,
      concurrencyPolicy: plan.concurrency,
      startingDeadlineSeconds: plan.startingDeadline,
      ...HISTORY,
      jobTemplate: {
        metadata: { labels: standardLabels(environment, plan.service) },
        spec: { backoffLimit: job.backoffLimit, template },
      },
    },
  }
}
