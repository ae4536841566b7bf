import type { ObjectPlan, Plan } from '../compiler/plan/plan.ts'
import { accountPlan, waitedJobs } from './application.ts'
import { externalSecretJson } from './external-secret.ts'
import { policyJson } from './isolation-policy.ts'
import { inReadingOrder } from './key-order.ts'
import { annotations } from './labels.ts'
import type { KubernetesObject, Manifest } from './manifest.ts'
import { addAnnotations } from './pod/newer-fields.ts'
import { PodTemplates } from './pod-templates.ts'
import { routeJson } from './route.ts'
import { serviceJson } from './service-object.ts'
import { claimJson, configMapJson, secretJson } from './storage.ts'
import { waiterAccountJson } from './waiter-account.ts'
import { workloadJson } from './workload.ts'

/**
 * The objects of a plan in the order in which they should be applied: what others refer to comes first. The same objects as Application's, from the
 * same props, rendered without an App and a Chart around them: those walk every value of every object again, which took half of the time.
 */
export function synth(plan: Plan): Manifest[] {
  const { environment } = plan
  const templates = new PodTemplates(plan)
  const manifests: Manifest[] = []
  const add = ({ source, service }: ObjectPlan, json: object) =>
    // The typed classes render what a Kubernetes object is: apiVersion, kind, metadata and more.
    void manifests.push({ source, folder: service ?? '_shared', object: inReadingOrder(json) as KubernetesObject })
  const annotated = <P extends ObjectPlan>(p: P, render: (bare: P) => object) => {
    const json = render({ ...p, annotations: undefined })
    addAnnotations(json as Record<string, unknown>, annotations(p.annotations)) // a map, as all objects
    add(p, json)
  }
  for (const p of plan.configMaps) add(p, configMapJson(p, environment))
  for (const p of plan.secrets) add(p, secretJson(p, environment))
  for (const p of plan.externalSecrets) add(p, externalSecretJson(p, environment))
  for (const p of plan.claims) annotated(p, bare => claimJson(bare, environment))
  for (const workload of plan.workloads) {
    const jobs = waitedJobs(workload, templates)
    if (jobs.length === 0) continue
    const account = accountPlan(workload, plan)
    for (const json of waiterAccountJson({ plan: account, environment, jobs })) add(account, json)
  }
  for (const p of plan.services) annotated(p, bare => serviceJson(bare, environment))
  for (const p of plan.workloads)
    annotated(p, bare =>
      workloadJson(bare, environment, templates.of(p), p.kind === 'Job' ? templates.jobName(p.service) : p.name),
    )
  for (const p of plan.routes) annotated(p, bare => routeJson(bare, environment))
  for (const p of plan.policies) annotated(p, bare => policyJson(bare, environment))
  return manifests
}
