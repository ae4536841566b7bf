import type { Pair, Service } from '../../compose/project.ts'
import { diagnostic, type Related } from '../../diagnostics/diagnostic.ts'
import type { PlanContext } from '../context.ts'
import { keepsPolicy, onceHint } from '../pod/one-shot.ts'
import { type Group, isLeadAwaited } from './groups.ts'

export const policyIgnored = diagnostic({
  code: 'restart/ignored',
  severity: 'warning',
  loss: true,
  explain: `All containers of a Pod have the same restart policy, and the restart policy of a DaemonSet (\`deploy.mode: global\`) is always \`always\`. The policy of this service has no effect.

A service that shares the Pod of another one may still run once, if it has no healthcheck and devctl knows its program: its container then stays when the program has ended. The program is \`entrypoint\`, a \`command\` that begins with a path or a well-known program, or what a Dockerfile says. Otherwise \`deploy\` asks the registry of the image; commands that are offline, such as \`render\`, and \`publish\` do not.

\`\`\`yaml
services:
  migrate:
    image: shop/tools:4
    entrypoint: [/usr/bin/tools]
    command: [migrate]
    network_mode: service:db
    restart: "no"
\`\`\``,
  text: (p: { service: string; policy: string; reason: string; hint?: string | undefined }) => ({
    message: `the restart policy \`${p.policy}\` of \`${p.service}\` has no effect: ${p.reason}`,
    hint: p.hint,
  }),
})

const modeInGroup = diagnostic({
  code: 'kind/mode-in-group',
  severity: 'warning',
  loss: true,
  explain:
    'Services that share a namespace are containers of one Pod. The service whose namespaces are shared sets the number of Pods and their nodes; `deploy.mode` and `scale` of the others have no effect.',
  text: (p: { service: string; lead: string; key: string }) => ({
    message: `\`${p.key}\` of \`${p.service}\` has no effect: it runs in the Pod of \`${p.lead}\``,
    hint: `set it on \`${p.lead}\``,
  }),
})

const otherAnnotation = diagnostic({
  code: 'groups/annotation',
  severity: 'warning',
  loss: true,
  explain:
    'Services that share a namespace are containers of one Pod, and their `labels`, `annotations` and `deploy.labels` become annotations of that Pod and of its workload. An annotation has one value: the one of the service whose namespaces are shared, else of the first service by name. The Service of each keeps its own `labels`.',
  text: (p: { key: string; name: string; service: string; other: string }) => ({
    message: `\`${p.name}\` in \`${p.key}\` of \`${p.service}\` has no effect on the Pod: \`${p.other}\` sets another value`,
    hint: 'give both the same value, or use different names',
  }),
})

const overruled = diagnostic({
  code: 'labels/overruled',
  severity: 'warning',
  loss: true,
  explain:
    '`labels` and `deploy.labels` of a service become annotations of its workload. An annotation has one value; `labels` wins.',
  text: (p: { name: string }) => ({
    message: `\`${p.name}\` in \`deploy.labels\` has no effect: \`labels\` sets another value`,
    hint: 'give both the same value, or remove one of them',
  }),
})

const portTwice = diagnostic({
  code: 'groups/port-twice',
  severity: 'error',
  explain:
    'Services that share a namespace are containers of one Pod with one network: only one of them can listen on a port. Give one of them another port, or its own network.',
  text: (p: { port: number; service: string; other: string }) => ({
    message: `\`${p.service}\` and \`${p.other}\` run in one Pod, and both use port ${p.port}`,
    hint: 'give one of them another port',
  }),
})

/**
 * Reports settings that group members cannot have individually: a restart policy, a mode, a scale, or a port that
 * another member uses.
 */
export function checkGroup(context: PlanContext, group: Group): void {
  for (const member of group.members) checkDeployLabels(context, member)
  if (group.members.length === 1) return
  checkPolicies(context, group)
  checkPorts(context, group)
  checkAnnotations(context, group, 'labels', ({ labels }) => labels)
  checkAnnotations(context, group, 'annotations', ({ annotations }) => annotations)
  checkAnnotations(context, group, 'deploy.labels', ({ deploy }) => deploy.labels)
}

/** Reports `deploy.labels` that `labels` of the same service override. */
function checkDeployLabels({ reporter }: Pick<PlanContext, 'reporter'>, { labels, deploy }: Service): void {
  const known = new Map(labels.map(pair => [pair.name, pair]))
  for (const { name, value, span } of deploy.labels) {
    const first = known.get(name)
    if (first && first.value !== value)
      reporter.report(overruled, span, { name }, [{ span: first.span, message: 'that of `labels` is here' }])
  }
}

function checkAnnotations(
  { reporter }: Pick<PlanContext, 'reporter'>,
  { members }: Group,
  key: string,
  pairsOf: (service: Service) => readonly Pair[],
): void {
  const found = new Map<string, { readonly pair: Pair; readonly service: string }>()
  for (const member of members)
    for (const pair of pairsOf(member)) {
      const { name, value, span } = pair
      const first = found.get(name)
      if (!first) found.set(name, { pair, service: member.name })
      else if (first.service !== member.name && first.pair.value !== value && !name.startsWith('dev.platform/'))
        reporter.report(otherAnnotation, span, { key, name, service: member.name, other: first.service }, [
          { span: first.pair.span, message: `that of \`${first.service}\` is here` },
        ])
    }
}

function checkPolicies(context: PlanContext, group: Group): void {
  const { reporter } = context
  const { lead, members } = group
  const own = lead.restart.policy?.value ?? 'always'
  // A member that lasts is a sidecar in the Pod of a Job, which restarts it.
  const hasSidecars = own !== 'always' && lead.deploy.mode?.value !== 'global' && !isLeadAwaited(group)
  for (const member of members.slice(1)) {
    const { policy } = member.restart
    const mayEnd = own === 'always' && keepsPolicy(context, member)
    if (policy && policy.value !== own && !mayEnd && !(hasSidecars && policy.value === 'always'))
      reporter.report(policyIgnored, policy.span, {
        service: member.name,
        policy: policy.value,
        reason: `it runs in the Pod of \`${lead.name}\`, whose policy is \`${own}\``,
        hint: own === 'always' ? onceHint(context, member) : undefined,
      })
    const { mode } = member.deploy
    if (mode && mode.value !== (lead.deploy.mode?.value ?? 'replicated'))
      reporter.report(modeInGroup, mode.span, { service: member.name, lead: lead.name, key: 'deploy.mode' })
    if (member.scale && member.scale.value !== (lead.scale?.value ?? 1))
      reporter.report(modeInGroup, member.scale.span, { service: member.name, lead: lead.name, key: 'scale' })
  }
}

/**
 * Checks the ports that the file assigns to members. Ignores ports that a Dockerfile exposes, because they may be
 * unused.
 */
function checkPorts({ reporter }: Pick<PlanContext, 'reporter'>, { members }: Group): void {
  const ports = new Map<string, { readonly service: string; readonly span: Related['span'] }>()
  for (const { name: service, ports: published, expose } of members)
    for (const { port, protocol, span } of [
      ...published.map(({ target, ...rest }) => ({ ...rest, port: target })),
      ...expose.map(({ value, span }) => ({ ...value, span })),
    ]) {
      const key = `${port}/${protocol}`
      const first = ports.get(key)
      if (!first) ports.set(key, { service, span })
      else if (first.service !== service)
        reporter.report(portTwice, span, { port, service, other: first.service }, [
          { span: first.span, message: `\`${first.service}\` has it here` },
        ])
    }
}
