import { UserError } from '../../compiler/diagnostics/user-error.ts'
import type { Plan, WorkloadPlan } from '../../compiler/plan/plan.ts'
import type { CompiledProject } from '../../project/compile-files.ts'
import { labelsOf, noSuchService, type Part } from '../../project/names/named-services.ts'

/**
 * Returns the plan with the given numbers of replicas, which replace the numbers in the files. Throws a UserError for a
 * service that is not deployed here, and for one that cannot be scaled, such as a Job.
 */
export async function withReplicas(
  plan: Plan,
  numbers: Readonly<Record<string, number>>,
  { project }: CompiledProject,
  part: Part | undefined,
): Promise<Plan> {
  if (Object.keys(numbers).length === 0) return plan
  const all = project ? await labelsOf(project) : new Map<string, string>()
  const labels = new Map([...all].filter(([, label]) => !part || part.services.has(label)))
  const byService = new Map(
    Object.entries(numbers).map(([name, count]) => {
      const label = labels.get(name)
      if (label === undefined) throw noSuchService(name, labels.keys(), ' to scale')
      const workload = plan.workloads.find(({ pod }) => pod.services.includes(label))
      refuseScale(name, label, workload, plan)
      return [label, count] as const
    }),
  )
  return {
    ...plan,
    workloads: plan.workloads.map(one =>
      byService.has(one.service) ? { ...one, replicas: byService.get(one.service)! } : one,
    ),
  }
}

function refuseScale(name: string, label: string, workload: WorkloadPlan | undefined, plan: Plan): void {
  const problem = problemOf(name, label, workload, plan)
  if (problem !== undefined) throw new UserError(problem, { hint: 'remove it from `--scale`' })
}

function problemOf(name: string, label: string, workload: WorkloadPlan | undefined, plan: Plan): string | undefined {
  if (!workload) return `\`${name}\` has no Pods`
  if (workload.service !== label) return `\`${name}\` runs in the Pods of \`${workload.service}\``
  if (workload.kind !== 'Deployment' && workload.kind !== 'StatefulSet')
    return `\`${name}\` is a ${workload.kind}, which cannot be scaled`
  return plan.autoscalers.some(({ service }) => service === label)
    ? `an autoscaler sets the replicas of \`${name}\``
    : undefined
}
