import { diagnostic } from '../../diagnostics/diagnostic.ts'
import { type PlanContext, sourceOf } from '../context.ts'
import type { Plan, WholeObjectPlan } from '../plan.ts'

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
 * Plans the objects of the top-level `x-kubernetes`. Reports an object whose kind and name another object of the plan
 * has.
 */
export function planObjects(context: PlanContext, plan: Omit<Plan, 'objects'>): readonly WholeObjectPlan[] {
  const lists: readonly (readonly [string, readonly { readonly name: string }[]])[] = [
    ['ConfigMap', plan.configMaps],
    ['CronJob', plan.workloads.flatMap(one => (one.kind === 'Job' && one.cronJobs) || [])],
    ['HorizontalPodAutoscaler', plan.autoscalers],
    ['Ingress', plan.routes],
    ['HTTPRoute', plan.routes],
    ['NetworkPolicy', plan.policies],
    ['PersistentVolumeClaim', plan.claims],
    ['Service', plan.services],
    ['ServiceAccount', plan.serviceAccounts],
  ]
  return context.project.objects.map(({ kind, name, json, span }) => {
    const taken = lists.some(([other, objects]) => other === kind && objects.some(one => one.name === name))
    if (taken) context.reporter.report(takenName, span, { kind, name })
    return { name, kind, json, span, source: sourceOf(context, span, ['x-kubernetes', 'objects']) }
  })
}
