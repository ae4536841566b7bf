import type { Service } from '../../compose/project.ts'
import { diagnostic } from '../../diagnostics/diagnostic.ts'
import { type PlanContext, sourceOf } from '../context.ts'
import { workloadAnnotations } from '../labels/annotations.ts'
import { cutName } from '../object-names.ts'
import type { GroupWaits } from '../order/start-order.ts'
import type { PodPlan, WorkloadPlan } from '../plan.ts'
import type { PlannedPod } from '../pod/pod.ts'
import { planCronJobs } from './cron-jobs.ts'
import type { Group } from './groups.ts'
import type { KindDecision } from './kind.ts'
import { planUpdate } from './update-policy.ts'

const shortened = diagnostic({
  code: 'names/shortened',
  severity: 'info',
  explain:
    'The name of a StatefulSet has at most 52 characters, the name of a Job 54 and a hash, because Kubernetes appends to them. The object gets a shortened name that ends with a hash; the host name of the service stays the same.',
  text: (p: { service: string; name: string }) => ({
    message: `the name of \`${p.service}\` is too long for its workload; it is shortened to \`${p.name}\``,
  }),
})

/** Plans the workload of a group. */
export function planWorkload(
  context: PlanContext,
  { lead, members }: Group,
  decision: KindDecision,
  { pod, claimTemplates }: PlannedPod,
  { dependencies }: GroupWaits,
): WorkloadPlan {
  const service = context.names.of(lead.name)
  const name = workloadName(context, lead, service, decision.kind)
  const update = planUpdate(context, lead, decision, pod)
  const annotations = workloadAnnotations(context, members)
  const base = {
    name,
    service,
    source: sourceOf(context, lead.span, ['services', lead.name]),
    span: lead.span,
    ...waitsSource(context, lead, members, pod),
    ...(annotations && { annotations }),
    pod,
    ...(dependencies.length > 0 && { dependencies }),
  }
  const replicas = lead.scale && !lead.autoscale && { replicas: lead.scale.value }
  const minReadySeconds = update.minReadySeconds !== undefined && { minReadySeconds: update.minReadySeconds }
  const { rolling, policy } = update
  switch (decision.kind) {
    case 'Deployment':
      return {
        ...base,
        kind: 'Deployment',
        ...replicas,
        ...(policy === 'recreate' ? { update: { type: 'Recreate' } } : rolling && { update: rolling }),
        ...minReadySeconds,
        ...(update.progressDeadlineSeconds !== undefined && {
          progressDeadlineSeconds: update.progressDeadlineSeconds,
        }),
      }
    case 'StatefulSet':
      return {
        ...base,
        kind: 'StatefulSet',
        ...replicas,
        serviceName: service,
        claimTemplates,
        ...(policy === 'on-delete' ? { update: { type: 'OnDelete' } } : rolling && { update: rolling }),
        ...minReadySeconds,
      }
    case 'DaemonSet':
      return { ...base, kind: 'DaemonSet', ...(rolling && { update: rolling }), ...minReadySeconds }
    case 'Job':
      return {
        ...base,
        kind: 'Job',
        restartPolicy: decision.job?.restartPolicy ?? 'Never',
        backoffLimit: decision.job?.backoffLimit ?? 0,
        ...(decision.job?.isServer && { isServer: true }),
        // A Job has one completion by default.
        ...(lead.scale && lead.scale.value !== 1 && { completions: lead.scale.value }),
        ...(lead.triggers && { cronJobs: planCronJobs(base, lead.triggers) }),
      }
  }
}

/**
 * Returns the name of a workload, short enough for suffixes: Kubernetes appends `-N` and a hash to the name of a
 * StatefulSet, and devctl appends a hash to the name of a Job.
 */
function workloadName(context: PlanContext, lead: Group['lead'], service: string, kind: WorkloadPlan['kind']): string {
  const most = kind === 'StatefulSet' || lead.triggers ? 52 : kind === 'Job' ? 54 : 63
  const name = cutName(service, most)
  if (name !== service) context.reporter.report(shortened, lead.span, { service: lead.name, name })
  return name
}

/**
 * Returns the source of the permissions that the Pods of a workload need to wait for Jobs: the `depends_on` of a
 * waiting member. Returns an empty object if the Pods wait for no Job.
 */
function waitsSource(
  context: PlanContext,
  lead: Service,
  members: readonly Service[],
  { waits }: PodPlan,
): Pick<WorkloadPlan, 'waitsSource'> {
  if (!waits.some(({ kind }) => kind === 'job')) return {}
  const waiting = members.find(({ dependsOn }) =>
    dependsOn.some(({ condition }) => condition === 'service_completed_successfully'),
  )
  const { name, span } = waiting ?? lead
  return { waitsSource: sourceOf(context, span, ['services', name, 'depends_on']) }
}
