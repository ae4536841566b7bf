import type { Hook, Pair, Service, Words } from '../../compose/project.ts'
import { diagnostic } from '../../diagnostics/diagnostic.ts'
import type { PlanContext } from '../context.ts'
import type { Exposure } from '../network/exposure.ts'
import { cutName } from '../object-names.ts'
import type { ContainerMount, ContainerPlan, ProbePlan } from '../plan.ts'
import { type ConfigPair, type SecretPair, secretVariables } from '../secrets/secret-sources.ts'
import { checkApart, variablesApart, wordsApart } from '../secrets/values-apart.ts'
import { withoutSharing } from '../storage/stored-mount.ts'
import { toEnvironment } from './environment.ts'
import { healthcheckOf } from './healthcheck.ts'
import { planImage } from './image.ts'
import { planHooks } from './lifecycle.ts'
import { NEVER, planChecks, planProbes } from './probes.ts'
import { planResources } from './resources.ts'
import { planContainerSecurity, planUser } from './security.ts'

const cleared = diagnostic({
  code: 'command/cleared',
  severity: 'warning',
  loss: true,
  explain: `In Compose an empty \`command\` or \`entrypoint\` clears the one of the image. Kubernetes treats an empty list as not set and uses the image's. Set \`entrypoint\` to the program to run; it replaces both.`,
  text: (p: { key: string }) => ({
    message: `in Kubernetes an empty \`${p.key}\` does not clear the one of the image`,
    hint: 'set `entrypoint` to the program to run',
  }),
})

const relativeDirectory = diagnostic({
  code: 'working-dir/relative',
  severity: 'warning',
  explain: 'A container runtime requires an absolute working directory. Write the full path, beginning with `/`.',
  text: (p: { path: string }) => ({
    message: `the working directory \`${p.path}\` is not absolute`,
    hint: `write \`/${p.path.replace(/^\.?\/*/, '')}\``,
  }),
})

/** Variables whose values are configs and secrets in the cluster. */
export type StoredVariables = readonly (SecretPair | ConfigPair)[]

/** Decisions about a container that are made before it is assembled. */
export interface ContainerFacts {
  readonly exposure: Exposure
  readonly mounts: readonly ContainerMount[]
  readonly variables: StoredVariables
  /** All services of the Pod. */
  readonly members: readonly Service[]
}

/** Plans the container of a service. */
export function planContainer(
  context: PlanContext,
  service: Service,
  { exposure, mounts, variables, members }: ContainerFacts,
): ContainerPlan {
  const { workingDir } = service
  if (workingDir && !workingDir.value.startsWith('/'))
    context.reporter.report(relativeDirectory, workingDir.span, { path: workingDir.value })
  const security = planContainerSecurity(context, service, members)
  const resources = planResources(context, service)
  const { variables: ofCommand, ...command } = planCommand(context, service, service)
  const { variables: ofHooks, ...hooks } = planHooks(context, service)
  const ofCheck = checkApart(context, service)
  const ofScripts = ofCheck ? [...ofHooks, ofCheck.variable] : ofHooks
  return {
    name: context.names.of(service.name),
    ...planImage(context, service),
    ...command,
    ...(workingDir && { workingDir: workingDir.value }),
    env: toEnvironment(context, variablesOf(context, service), variables, ofCommand, ofScripts),
    ports: exposure.containerPorts,
    ...planProbes(context, service),
    ...hooks,
    ...(resources && { resources }),
    mounts,
    ...(security && { security }),
    ...(service.stdinOpen && { stdin: true }),
    ...(service.tty && { tty: true }),
  }
}

/** Returns the variables of a service, including those that come from Secrets. */
const variablesOf = (context: PlanContext, service: Service): readonly (Pair | SecretPair)[] => [
  ...variablesApart(context, service, service.environment),
  ...secretVariables(context, service),
]

/**
 * Turns a group member into a sidecar: a container that starts before the members that wait for it. These members start
 * after the sidecar's startup probe succeeds. The probe is the healthcheck or, without a healthcheck, a connection to
 * one of its ports. A healthcheck stops the container only if it is also a liveness probe.
 */
export function toSidecar(
  context: PlanContext,
  container: ContainerPlan,
  service: Service,
  exposure: Exposure,
): ContainerPlan & { readonly sidecar: true } {
  const healthcheck = healthcheckOf(context, service)
  const checks = healthcheck && planChecks(context, healthcheck)
  const own = checks?.startup ?? checks?.probe
  const patient = own && !healthcheck?.liveness.value ? { ...own, failureThreshold: NEVER } : own
  const startupProbe = patient ?? portProbe(exposure)
  return { ...container, ...(startupProbe && { startupProbe }), sidecar: true }
}

/**
 * Turns a member of a Job's Pod that no other member waits for into a sidecar. The sidecar has no startup probe,
 * because the Job's own container would not start before that probe succeeds. A liveness probe begins when the startup
 * probe would have ended at the latest.
 */
export function toLastingSidecar({
  startupProbe,
  livenessProbe,
  ...container
}: ContainerPlan): ContainerPlan & { readonly sidecar: true } {
  const { periodSeconds = 0, failureThreshold = 0 } = startupProbe ?? {}
  const delay = startupProbe && { initialDelaySeconds: periodSeconds * failureThreshold }
  return { ...container, ...(livenessProbe && { livenessProbe: { ...livenessProbe, ...delay } }), sidecar: true }
}

/**
 * Returns a startup probe that allows five minutes for the first port to open, because a probe has only one. A failed
 * startup probe restarts the container, which a slow start should not cause.
 */
const portProbe = ({ waitPorts: [port] }: Exposure): ProbePlan | undefined =>
  port === undefined ? undefined : { check: { kind: 'tcp', port }, periodSeconds: 2, failureThreshold: 150 }

/**
 * Plans the init containers of a service's pre_start hooks: copies of the service's container with the hook's changes.
 */
export function planPreStart(
  context: PlanContext,
  service: Service,
  container: ContainerPlan,
  variables: StoredVariables,
): readonly ContainerPlan[] {
  const nextName = hookNames(context, container.name)
  return service.preStart.map((hook, index) => {
    const { startupProbe, readinessProbe, livenessProbe, postStart, preStop, stdin, tty, ...inherited } = container
    const { command, args, workingDir, security: own = {}, ...kept } = inherited
    const at = ['services', service.name, 'pre_start', String(index)]
    const { variables: ofCommand, ...ownCommand } = planCommand(context, service, hook, at)
    const environment = variablesApart(context, service, ownVariables(service, hook), at)
    // The loader has already copied inherited settings to the hook, so a setting that is still missing was removed on
    // purpose.
    const { privileged, runAsUser, runAsGroup, ...shared } = own
    const security = {
      ...shared,
      ...planUser(context, hook),
      ...(hook.privileged?.value && { privileged: true }),
    }
    return {
      ...kept,
      name: nextName(),
      ...hookImage(context, service, hook),
      ...ownCommand,
      ...(hook.workingDir && { workingDir: hook.workingDir.value }),
      env: toEnvironment(context, variablesOf(context, service), variables, environment, ofCommand),
      ports: [],
      ...(!security.privileged && { mounts: container.mounts.map(withoutSharing) }),
      ...(Object.keys(security).length > 0 && { security }),
    }
  })
}

/**
 * Returns a function that returns the next name for the init container of a hook. Skips names of services, because a
 * service with such a name may run in the same Pod, and images are looked up by the name of their container.
 */
function hookNames({ names }: PlanContext, container: string): () => string {
  let number = 0
  const next = () => cutName(`${container}-pre-start-${++number}`, 63)
  return () => {
    let name = next()
    while (names.isTaken(name)) name = next()
    return name
  }
}

/**
 * Returns the variables that a hook sets itself. The output of `devctl config` repeats the variables of the service in
 * its hooks. Omits these variables, because they must not replace variables from configs and secrets.
 */
const ownVariables = ({ environment }: Service, hook: Pick<Service, 'environment'>): Service['environment'] =>
  hook.environment.filter(({ name, value }) => !environment.some(other => other.name === name && other.value === value))

/**
 * Returns the image of a hook and its pull policy. The loader gives a hook without an image the image of the service.
 * If the service's image is then replaced by an option or built, a hook with the same image uses the new image, too.
 */
function hookImage(
  context: PlanContext,
  service: Service,
  { image }: Hook,
): Pick<ContainerPlan, 'image' | 'imagePullPolicy'> {
  if (!image || image.value === service.image?.value) return planImage(context, service)
  return planImage(context, { ...service, name: '', image, build: undefined })
}

/** The command of a container, and the variables that it refers to. */
interface PlannedCommand extends Pick<ContainerPlan, 'command' | 'args'> {
  readonly variables: readonly SecretPair[]
}

/**
 * Converts `entrypoint` and `command` of a service, or of its hook at the path `at`, to `command` and `args` of a
 * Kubernetes container. Kubernetes ignores empty lists.
 */
function planCommand(
  context: PlanContext,
  service: Service,
  { entrypoint, command }: { readonly entrypoint?: Words | undefined; readonly command?: Words | undefined },
  at?: readonly string[],
): PlannedCommand {
  const program = entrypoint && wordsApart(context, service, 'entrypoint', entrypoint, at)
  const rest = command && wordsApart(context, service, 'command', command, at)
  return {
    ...lowered(context, entrypoint && { ...entrypoint, ...program }, command && { ...command, ...rest }),
    variables: [...(program?.variables ?? []), ...(rest?.variables ?? [])],
  }
}

function lowered(
  { reporter }: PlanContext,
  entrypoint: Words | undefined,
  command: Words | undefined,
): Pick<ContainerPlan, 'command' | 'args'> {
  const [program, words] = [entrypoint?.words ?? [], command?.words ?? []]
  // If the entrypoint is cleared and there is a command, the command is the program.
  if (entrypoint && program.length === 0 && words.length > 0) return { command: words }
  if (entrypoint && program.length === 0) reporter.report(cleared, entrypoint.span, { key: 'entrypoint' })
  else if (command && words.length === 0 && program.length === 0)
    reporter.report(cleared, command.span, { key: 'command' })
  return { ...(program.length > 0 && { command: program }), ...(words.length > 0 && { args: words }) }
}
