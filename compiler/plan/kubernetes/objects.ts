import { diagnostic } from '../../diagnostics/diagnostic.ts'
import { type PlanContext, sourceOf } from '../context.ts'
import type { Plan, WholeObjectPlan } from '../plan.ts'
import { waitedServices, waiterAccountName } from '../waiter-account-name.ts'

const takenName = diagnostic({
  code: 'kubernetes/taken-name',
  severity: 'error',
  explain: 'devctl creates an object of this kind with this name itself, and there can be only one in a namespace.',
  text: (p: { kind: string; name: string }) => ({
    message: `devctl creates a ${p.kind} \`${p.name}\` itself`,
    hint: 'choose another name; `x-kubernetes` of a service adds fields to the objects of the service',
  }),
})

/**
 * Plans the objects of the top-level `x-kubernetes`. Reports an object with the same API group, kind and name as
 * another object of the plan.
 */
export function planObjects(context: PlanContext, plan: Omit<Plan, 'objects'>): readonly WholeObjectPlan[] {
  const taken = takenNames(plan)
  return context.project.objects.map(({ kind, name, json, span }) => {
    if (taken.get(`${groupOf(json['apiVersion'])} ${kind}`)?.has(name))
      context.reporter.report(takenName, span, { kind, name })
    return { name, kind, json, span, source: sourceOf(context, span, ['x-kubernetes', 'objects']) }
  })
}

/**
 * Returns the names of the objects that devctl creates. The keys are API group and kind, separated by a blank. The core
 * API has an empty group, as in ` Service`.
 */
function takenNames(plan: Omit<Plan, 'objects'>): ReadonlyMap<string, ReadonlySet<string>> {
  const waiters = plan.workloads.flatMap(workload => {
    const waited = waitedServices(workload)
    return waited.length > 0 ? [{ name: waiterAccountName(plan.environment.name, waited) }] : []
  })
  const lists: readonly (readonly [string, readonly { readonly name: string }[]])[] = [
    [' ConfigMap', plan.configMaps],
    ['batch CronJob', plan.workloads.flatMap(one => (one.kind === 'Job' && one.cronJobs) || [])],
    ['external-secrets.io ExternalSecret', plan.externalSecrets],
    ['autoscaling HorizontalPodAutoscaler', plan.autoscalers],
    ['networking.k8s.io Ingress', plan.routes.filter(({ kind }) => kind === 'Ingress')],
    ['gateway.networking.k8s.io HTTPRoute', plan.routes.filter(({ kind }) => kind === 'HTTPRoute')],
    ['networking.k8s.io NetworkPolicy', plan.policies],
    [' PersistentVolumeClaim', plan.claims],
    ['rbac.authorization.k8s.io Role', waiters],
    ['rbac.authorization.k8s.io RoleBinding', waiters],
    [' Service', plan.services],
    [' ServiceAccount', [...plan.serviceAccounts, ...waiters]],
  ]
  return new Map(lists.map(([kind, objects]) => [kind, new Set(objects.map(({ name }) => name))]))
}

/** Returns the API group of an `apiVersion` such as `apps/v1`; empty for `v1`. */
const groupOf = (apiVersion: unknown): string => /^(.*)\//.exec(String(apiVersion))?.[1] ?? ''
