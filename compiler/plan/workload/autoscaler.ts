import type { Autoscale, Service } from '../../compose/project.ts'
import { diagnostic } from '../../diagnostics/diagnostic.ts'
import { type PlanContext, sourceOf } from '../context.ts'
import type { AutoscalerPlan, ContainerPlan, WorkloadPlan } from '../plan.ts'
import type { Group } from './groups.ts'
import { kindWords } from './update-policy.ts'

const noRequest = diagnostic({
  code: 'autoscale/no-request',
  severity: 'error',
  explain: `The autoscaler compares what the Pods use with what they request. Every container of the Pod needs a request (or a limit, which is then the request, too); otherwise the autoscaler does nothing and reports \`FailedGetResourceMetric\`.

\`\`\`yaml
services:
  web:
    x-autoscale: {max: 5, cpu: 70%}
    deploy:
      resources:
        reservations: {cpus: "0.25", memory: 128M}
\`\`\``,
  text: (p: { resource: string; service: string; write: string }) => ({
    message: `\`${p.service}\` requests no ${p.resource}, which the autoscaler compares with`,
    hint: `write \`deploy.resources.reservations.${p.write}\` in \`${p.service}\``,
  }),
})

const notScalable = diagnostic({
  code: 'autoscale/not-scalable',
  severity: 'error',
  explain:
    'An autoscaler changes the number of Pods of a Deployment or a StatefulSet. A Job runs a fixed number of times, and a DaemonSet has one Pod on each node.',
  text: (p: { service: string; kind: string }) => ({
    message: `\`${p.service}\` is a ${p.kind}, which cannot be scaled`,
    hint: 'remove `x-autoscale`',
  }),
})

const inGroup = diagnostic({
  code: 'autoscale/shared-pod',
  severity: 'error',
  explain:
    'Services that share a namespace are containers of one Pod, and the service whose namespaces are shared sets the number of Pods.',
  text: (p: { service: string; lead: string }) => ({
    message: `\`${p.service}\` runs in the Pod of \`${p.lead}\`, which sets the number of Pods`,
    hint: `write \`x-autoscale\` in \`${p.lead}\``,
  }),
})

const scaleIgnored = diagnostic({
  code: 'autoscale/scale',
  severity: 'info',
  explain:
    'With `x-autoscale`, the autoscaler sets the number of Pods. `scale` and `deploy.replicas` have no effect; `min` is the number of Pods to begin with.',
  text: (p: { service: string }) => ({
    message: `the autoscaler of \`${p.service}\` sets the number of Pods, so \`scale\` has no effect`,
  }),
})

/** Returns the autoscaler of a group's workload; undefined if it has none. */
export function planAutoscaler(
  context: PlanContext,
  { lead, members }: Group,
  workload: WorkloadPlan,
): AutoscalerPlan | undefined {
  const { reporter } = context
  for (const { name, autoscale } of members)
    if (autoscale && name !== lead.name) reporter.report(inGroup, autoscale.span, { service: name, lead: lead.name })
  const { autoscale } = lead
  if (!autoscale) return undefined
  const { kind } = workload
  if (kind !== 'Deployment' && kind !== 'StatefulSet') {
    reporter.report(notScalable, autoscale.span, { service: lead.name, kind: kindWords[kind] })
    return undefined
  }
  if (autoscale.scale) reporter.report(scaleIgnored, autoscale.scale, { service: lead.name })
  const containers = [...workload.pod.containers, ...workload.pod.init.filter(({ sidecar }) => sidecar)]
  for (const member of members) checkRequests(context, autoscale, member, containers)
  return {
    name: workload.name,
    service: workload.service,
    source: sourceOf(context, autoscale.span, ['services', lead.name, 'x-autoscale']),
    span: autoscale.span,
    target: { kind, name: workload.name },
    min: autoscale.min,
    max: autoscale.max,
    ...(autoscale.cpu && { cpu: autoscale.cpu.value }),
    ...(autoscale.memory && { memory: autoscale.memory.value }),
  }
}

function checkRequests(
  { reporter, names }: PlanContext,
  autoscale: Autoscale,
  { name: service }: Service,
  containers: readonly ContainerPlan[],
): void {
  const container = containers.find(({ name }) => name === names.of(service))
  for (const [resource, words, write] of RESOURCES) {
    const target = autoscale[resource]
    const { requests, limits } = container?.resources ?? {}
    if (target && !requests?.[resource] && !limits?.[resource])
      reporter.report(noRequest, target.span, { resource: words, service, write })
  }
}

const RESOURCES = [
  ['cpu', 'CPU time', 'cpus: "0.25"'],
  ['memory', 'memory', 'memory: 128M'],
] as const
