import type { Hook, Service } from '../../compose/project.ts'
import { diagnostic } from '../../diagnostics/diagnostic.ts'
import { quote } from '../../values/shell-words.ts'
import type { PlanContext } from '../context.ts'
import type { ContainerPlan } from '../plan.ts'
import type { SecretPair } from '../secrets/secret-sources.ts'
import { scriptApart, textsOfHooks } from '../secrets/values-apart.ts'
import { wholeSeconds } from './probes.ts'

const hookUser = diagnostic({
  code: 'hooks/user',
  severity: 'warning',
  loss: true,
  explain:
    '`post_start` and `pre_stop` run as the user of the container; Kubernetes does not support another. Switch the user in the command, if the image has a tool for it.',
  text: (p: { hook: string; user: string }) => ({
    message: `\`user: ${p.user}\` of a \`${p.hook}\` hook has no equivalent: it runs as the user of the container`,
    hint: 'use `su` or `gosu` in the command, or set `user` of the service',
  }),
})

const hookPrivileged = diagnostic({
  code: 'hooks/privileged',
  severity: 'warning',
  loss: true,
  explain: '`post_start` and `pre_stop` run with the privileges of the container; Kubernetes does not support more.',
  text: (p: { hook: string }) => ({
    message: `\`privileged\` of a \`${p.hook}\` hook has no equivalent: it has the privileges of the container`,
  }),
})

const perReplica = diagnostic({
  code: 'hooks/once',
  severity: 'warning',
  loss: true,
  explain: `A \`pre_start\` hook becomes an init container, which runs before each Pod of the service starts, and again whenever a Pod is replaced. In Compose a hook without \`per_replica: true\` runs once for all replicas. Make the hook idempotent, or move it to a service that completes:

\`\`\`yaml
services:
  migrate:
    image: app
    restart: "no"
  web:
    depends_on:
      migrate: {condition: service_completed_successfully}
\`\`\``,
  text: (p: { replicas: number }) => ({
    message: `the \`pre_start\` hook runs once for each of the ${p.replicas} Pods`,
    hint: 'add `per_replica: true`, or use a service that completes',
  }),
})

const noGracePeriod = diagnostic({
  code: 'stop-grace-period/zero',
  severity: 'info',
  explain:
    'In Kubernetes a grace period of zero deletes the Pod object before its containers have stopped, so a StatefulSet may start the successor while they still run. devctl uses one second instead.',
  text: () => ({ message: 'a grace period of zero becomes one second', hint: 'write `1s`' }),
})

/** Default grace period in seconds. Compose waits 10 seconds before it kills a container; Kubernetes would wait 30. */
const defaultGracePeriod = 10

/**
 * Returns the grace period of a service in seconds. Zero becomes one second: with zero, the kubelet kills the
 * containers at once, and the Pod object is deleted before they have stopped.
 */
function gracePeriod(context: PlanContext, { stopGracePeriod }: Service): number {
  if (!stopGracePeriod) return defaultGracePeriod
  return isZero(stopGracePeriod) ? 1 : wholeSeconds(context, 'stop_grace_period', stopGracePeriod)
}

const isZero = ({ value }: NonNullable<Service['stopGracePeriod']>): boolean => value.milliseconds <= 0

/** Returns the grace period of a Pod in seconds: the longest grace period of its services. */
export function planGracePeriod(context: PlanContext, services: readonly Service[]): number {
  const seconds = Math.max(...services.map(service => gracePeriod(context, service)))
  // The zero has no effect in a Pod whose other containers take longer, so it is not reported.
  for (const { stopGracePeriod } of seconds > 1 ? [] : services)
    if (stopGracePeriod && isZero(stopGracePeriod))
      context.reporter.report(noGracePeriod, stopGracePeriod.span, undefined)
  return seconds
}

/** Hooks, and the container variables that hold their scripts. */
interface PlannedHooks extends Pick<ContainerPlan, 'postStart' | 'preStop'> {
  readonly variables: readonly SecretPair[]
}

/**
 * Plans the hooks that run in the container. A container can have one hook of each kind, so several hooks become one
 * script.
 */
export function planHooks(context: PlanContext, service: Service): PlannedHooks {
  const postStart = planHook(context, service, 'post_start', service.postStart)
  const preStop = planHook(context, service, 'pre_stop', service.preStop)
  return {
    ...(postStart && { postStart: postStart.command }),
    ...(preStop && { preStop: preStop.command }),
    variables: [postStart, preStop].flatMap(hook => hook?.variable ?? []),
  }
}

function planHook(
  context: PlanContext,
  service: Service,
  name: 'post_start' | 'pre_stop',
  hooks: readonly Hook[],
): { readonly command: readonly string[]; readonly variable?: SecretPair } | undefined {
  const { reporter } = context
  const usable = hooks.filter(hook => {
    if (hook.user && hook.user.value !== service.user?.value)
      reporter.report(hookUser, hook.user.span, { hook: name, user: hook.user.value })
    if (hook.privileged?.value && !service.privileged?.value)
      reporter.report(hookPrivileged, hook.privileged.span, { hook: name })
    // The schema has already reported hooks without a command.
    return (hook.command?.words.length ?? 0) > 0
  })
  const [only] = usable
  if (!only) return undefined
  const script = usable.map(toScript).join(' && ')
  const apart = scriptApart(context, service, name, textsOfHooks(service, name, hooks), script)
  if (apart) return apart
  const isPlain = usable.length === 1 && !only.workingDir && only.environment.length === 0
  return { command: isPlain ? (only.command?.words ?? []) : ['/bin/sh', '-c', script] }
}

/** Converts a hook to a line of a script. A subshell keeps the hook's working directory from affecting other hooks. */
function toScript(hook: Hook): string {
  const variables = hook.environment.map(({ name, value }) => quote(`${name}=${value}`))
  const command = [...(variables.length ? ['env', ...variables] : []), ...(hook.command?.words ?? []).map(quote)].join(
    ' ',
  )
  return hook.workingDir ? `(cd ${quote(hook.workingDir.value)} && ${command})` : command
}

/** Reports pre_start hooks that are meant to run once but run in every Pod. */
export function checkPreStart({ reporter }: PlanContext, service: Service, replicas: number): void {
  for (const hook of service.preStart)
    if (replicas > 1 && !hook.perReplica?.value) reporter.report(perReplica, hook.span, { replicas })
}
