import type { Dependency, Project, Service } from '../../compose/project.ts'
import { diagnostic, type Related } from '../../diagnostics/diagnostic.ts'
import type { PlanContext } from '../context.ts'
import type { WorkloadPlan } from '../plan.ts'
import type { Mentions } from '../secrets/mentions.ts'
import { checkGroup, policyIgnored } from './group-rules.ts'
import type { Group } from './groups.ts'

const jobByWait = diagnostic({
  code: 'kind/job-by-wait',
  severity: 'info',
  explain: `Another service waits until this one has completed, and this one has no restart policy. By default devctl restarts a service forever, so it would never complete, while the default of Compose is \`no\`. So the service becomes a Job.

To make this explicit, write \`restart: "no"\`.`,
  text: (p: { service: string; by: string }) => ({
    message: `\`${p.service}\` becomes a Job, because \`${p.by}\` waits for its completion`,
    hint: 'to make this explicit, write `restart: "no"`',
  }),
})

const serverAsJob = diagnostic({
  code: 'kind/server-as-job',
  severity: 'warning',
  explain: `A service whose restart policy is not \`always\` becomes a Job. This one has ports, a healthcheck, clients or dependants, and no other service waits for its completion, so it looks like a server. If it does end, let the others wait with \`service_completed_successfully\`. As a Job it cannot be updated in place, and with \`on-failure:N\` it fails for good after N failures over its whole lifetime.

\`\`\`yaml
services:
  api:
    restart: always      # the default: a Deployment
\`\`\``,
  text: (p: { service: string; policy: string; has: string; always: string }) => ({
    message: `\`${p.service}\` has ${p.has}, but \`${p.policy}\` makes it a Job`,
    hint: `for a server, write \`${p.always}\``,
  }),
})

const onFailureJob = diagnostic({
  code: 'kind/on-failure-job',
  severity: 'info',
  explain: `A service whose restart policy is \`on-failure\` becomes a Job: it runs until it has ended without an error, and a deploy waits for that. Nothing waits for the completion of this one. If it is meant to run on, as a worker is, the deploy waits in vain.

\`\`\`yaml
services:
  worker:
    restart: always      # the default: a Deployment
\`\`\``,
  text: (p: { service: string; policy: string; always: string }) => ({
    message: `\`${p.service}\` becomes a Job that runs until it ends without an error, because of \`${p.policy}\``,
    hint: `if it runs on, write \`${p.always}\``,
  }),
})

const attemptsIgnored = diagnostic({
  code: 'restart/attempts-ignored',
  severity: 'warning',
  loss: true,
  explain:
    '`max_attempts` works only with `on-failure`: it becomes the `backoffLimit` of a Job. With `always` Kubernetes restarts without limit and with an increasing delay; with `no` it never restarts.',
  text: (p: { policy: string }) => ({
    message: `\`max_attempts\` has no effect with the restart policy \`${p.policy}\``,
    hint: 'use `on-failure`, or remove `max_attempts`',
  }),
})

const replicasOfGlobal = diagnostic({
  code: 'kind/replicas-of-global',
  severity: 'warning',
  loss: true,
  explain:
    '`deploy.mode: global` runs one container on every node, as a DaemonSet. The number of replicas has no effect and is left out.',
  text: (p: { service: string }) => ({
    message: `the number of replicas of \`${p.service}\` has no effect with \`mode: global\``,
    hint: 'remove it, or remove `mode: global`',
  }),
})

const unknownMode = diagnostic({
  code: 'kind/unknown-mode',
  severity: 'error',
  explain:
    '`deploy.mode` is `replicated` (the default) or `global`, which runs one container on every node. Swarm’s job modes, `replicated-job` and `global-job`, are not supported: a restart policy (`restart: on-failure` or `restart: "no"`) makes a service a Job.',
  text: (p: { mode: string }) =>
    p.mode === 'replicated-job' || p.mode === 'global-job'
      ? {
          message: `\`deploy.mode: ${p.mode}\` is not supported`,
          hint: 'remove it and write `restart: on-failure`, which makes the service a Job',
        }
      : {
          message: `\`deploy.mode\` has the unknown value \`${p.mode}\``,
          hint: 'use `replicated` or `global`',
        },
})

const jobInGroup = diagnostic({
  code: 'jobs/shared-pod',
  severity: 'error',
  explain:
    'A job runs in Pods of its own, so it cannot share the network, the processes or the IPC of a service. It reaches the services by their names.',
  text: (p: { name: string }) => ({
    message: `the job \`${p.name}\` cannot share the Pod of a service`,
    hint: 'remove `network_mode: service:…`, and `pid` and `ipc` with a service',
  }),
})

/** The kind of a workload, with the line in the file that determined it. */
export interface KindDecision {
  readonly kind: WorkloadPlan['kind']
  readonly because?: Related
  /** Settings of a Job; undefined for other kinds. */
  readonly job?: {
    readonly restartPolicy: 'Never' | 'OnFailure'
    readonly backoffLimit: number
    readonly isServer: boolean
  }
}

/** A mount because of which a service becomes a StatefulSet. */
export interface PersistentMount {
  readonly service: string
  readonly description: string
  readonly span: Related['span']
}

interface KindFacts {
  readonly waits: ReturnType<typeof completionWaits>
  /** Services that endpoints route to. */
  readonly endpoints: ReadonlySet<string>
  readonly mentions: Pick<Mentions, 'of'>
}

/**
 * Maps each service whose completion is awaited to the service that waits for it. If several services wait, the first
 * one by name counts.
 */
export function completionWaits(
  project: Project,
): ReadonlyMap<string, { readonly by: string; readonly wait: Dependency }> {
  const waits = new Map<string, { by: string; wait: Dependency }>()
  for (const service of project.services.values())
    for (const wait of service.dependsOn)
      if (wait.condition === 'service_completed_successfully') {
        const known = waits.get(wait.service)
        if (!known || service.name < known.by) waits.set(wait.service, { by: service.name, wait })
      }
  return waits
}

/** Decides the workload kind of a group by the first matching rule. */
export function planKind(
  context: PlanContext,
  group: Group,
  facts: KindFacts & { readonly persistent: PersistentMount | undefined },
): KindDecision {
  const { reporter } = context
  const { lead, members } = group
  checkGroup(context, group)
  const mode = lead.deploy.mode
  if (mode && mode.value !== 'global' && mode.value !== 'replicated')
    reporter.report(unknownMode, mode.span, { mode: mode.value })
  const policy = lead.restart.policy
  if (mode?.value === 'global') {
    if (policy && policy.value !== 'always')
      reporter.report(policyIgnored, policy.span, {
        service: lead.name,
        policy: policy.value,
        reason: 'a DaemonSet always restarts',
      })
    if (lead.scale) reporter.report(replicasOfGlobal, lead.scale.span, { service: lead.name })
    const because = { span: mode.span, message: `\`${lead.name}\` is a daemon set because its mode is \`global\`` }
    return { kind: 'DaemonSet', because }
  }
  const joined = members.find(member => member.triggers && members.length > 1)
  if (joined) reporter.report(jobInGroup, joined.triggers?.span ?? joined.span, { name: joined.name })
  if (lead.triggers) {
    const because = { span: lead.triggers.span, message: `\`${lead.name}\` is a job because of its triggers` }
    return { kind: 'Job', because, job: { restartPolicy: 'Never', backoffLimit: 0, isServer: false } }
  }
  const job = planJob(context, group, facts)
  if (job) return job
  if (lead.restart.maxAttempts)
    reporter.report(attemptsIgnored, lead.restart.maxAttempts.span, { policy: policy?.value ?? 'always' })
  const { persistent } = facts
  if (persistent) {
    const message = `\`${persistent.service}\` is a stateful set because it mounts ${persistent.description}`
    return { kind: 'StatefulSet', because: { span: persistent.span, message } }
  }
  return {
    kind: 'Deployment',
    because: { span: members[0]!.span, message: `\`${lead.name}\` is a deployment because it mounts no volume` },
  }
}

/** Returns the decision for a Job; undefined if the group is not a Job. */
function planJob(
  { reporter, project }: Pick<PlanContext, 'reporter' | 'project'>,
  { lead, members }: Group,
  { waits, endpoints, mentions }: KindFacts,
): KindDecision | undefined {
  const { policy, maxAttempts } = lead.restart
  const awaited = waits.get(lead.name)
  // `max_attempts` alone is also a restart policy, with the condition `any`.
  const isByWait = !policy && !maxAttempts && awaited !== undefined
  if (!isByWait && (!policy || policy.value === 'always')) return undefined
  // A wait within the Pod is an error of its own.
  if (isByWait && !members.some(({ name }) => name === awaited.by))
    reporter.report(jobByWait, lead.span, { service: lead.name, by: awaited.by }, [
      { span: awaited.wait.span, message: `\`${awaited.by}\` waits here` },
    ])
  const isOnFailure = policy?.value === 'on-failure'
  const served = members.map(member => serves(member, endpoints, isOnFailure ? mentions : undefined)).find(Boolean)
  if (policy && !awaited) {
    const looks = served ?? (isOnFailure ? dependant(project, members) : undefined)
    reportPolicy(reporter, lead, { policy, key: lead.restart.key }, looks)
  }
  const restartPolicy = isOnFailure ? 'OnFailure' : 'Never'
  if (restartPolicy === 'Never' && maxAttempts) reporter.report(attemptsIgnored, maxAttempts.span, { policy: 'no' })
  const because = {
    span: policy?.span ?? awaited?.wait.span ?? lead.span,
    message: policy
      ? `\`${lead.name}\` is a job because its restart policy is \`${policy.value}\``
      : `\`${lead.name}\` is a job because \`${awaited?.by}\` waits for its completion`,
  }
  // A Job counts failures over its entire lifetime. So a Job that has no limit in the file and that no service waits
  // for may fail any number of times.
  const unlimited = awaited ? 6 : 2147483647
  const backoffLimit = restartPolicy === 'Never' ? 0 : (maxAttempts?.value ?? unlimited)
  return { kind: 'Job', because, job: { restartPolicy, backoffLimit, isServer: served !== undefined } }
}

/** Reports a Job that looks like a server, and a Job that may never end. */
function reportPolicy(
  reporter: PlanContext['reporter'],
  { name: service }: Service,
  { policy, key = 'restart' }: Required<Pick<Service['restart'], 'policy'>> & Pick<Service['restart'], 'key'>,
  served: Served | undefined,
): void {
  const isDeployed = key === 'deploy.restart_policy.condition'
  const always = isDeployed ? 'condition: any' : 'restart: always'
  const written = `${isDeployed ? 'condition' : key}: ${policy.value}`
  if (served) {
    const facts = { service: served.service, policy: written, has: served.has, always }
    reporter.report(serverAsJob, policy.span, facts, [
      { span: served.span, message: `\`${served.service}\` has ${served.has}` },
    ])
  } else if (policy.value === 'on-failure')
    reporter.report(onFailureJob, policy.span, { service, policy: written, always })
}

/** Returns a service that depends on a member without waiting for its completion. */
function dependant({ services }: Project, members: readonly Service[]): Served | undefined {
  const names = new Set(members.map(({ name }) => name))
  for (const { name: other, dependsOn } of services.values())
    for (const { service, implicit, span } of names.has(other) ? [] : dependsOn)
      if (names.has(service) && !implicit) return { service, has: 'dependants', span }
  return undefined
}

interface Served extends Pick<Related, 'span'> {
  readonly service: string
  /** Reason for messages, such as `ports`. */
  readonly has: string
}

/**
 * Returns the reason why a service counts as a server: ports, an endpoint, a healthcheck or, if requested, services
 * that use it as a host.
 */
function serves(
  service: Service,
  endpoints: ReadonlySet<string>,
  mentions: Pick<Mentions, 'of'> | undefined,
): Served | undefined {
  const found = (has: string, span: Related['span']) => ({ service: service.name, has, span })
  const [port] = service.ports
  if (port) return found('ports', port.span)
  const [exposed] = service.expose
  if (exposed) return found('ports', exposed.span)
  const check = service.healthcheck
  if (check && check.check.kind !== 'none') return found('a healthcheck', check.span)
  if (endpoints.has(service.name)) return found('an endpoint', service.span)
  const client = mentions?.of(service.name).find(({ isHost }) => isHost)
  return client && found('clients', client.span)
}
