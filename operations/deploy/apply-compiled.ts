import { isAbsolute, relative, sep } from 'node:path'
import { ClusterError } from '../../adapters/kubernetes/cluster.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { isJob } from '../../constructs/kinds.ts'
import type { DeployOrigin } from '../../environment/apply/deploy.ts'
import type { Step } from '../../environment/apply/steps.ts'
import { repositoryOf } from '../../project/names/environment-name.ts'
import type { OperationContext } from '../../project/session.ts'
import { toleratesFailures } from '../../project/tolerance.ts'
import type { Workspace } from '../../project/workspace.ts'
import { type CompiledForCluster, choicesOf } from './compile-for-cluster.ts'
import type { DeployEvent } from './events.ts'
import type { DeployInput } from './input.ts'
import type { DeployOutcome } from './outcome.ts'
import { addressesInOrder, deployEvents } from './progress.ts'
import { ServiceStates } from './service-states.ts'

interface How {
  /** Start time of the deploy, in milliseconds since 1970. */
  readonly began: number
  /** True if the caller holds the environment's Lease. */
  readonly isHeld: boolean
  readonly signal: AbortSignal
  /** Hashes of the warnings, for the record of the environment. */
  readonly warnings?: readonly string[]
  /** Set that the deploy fills with the services whose Pods it keeps, except Jobs and CronJobs. */
  readonly unchanged?: Set<string>
  /** Variables that commands passed on. */
  readonly variables?: Readonly<Record<string, string>>
}

/**
 * Applies a compiled project, and waits as `input` requests. Throws if the cluster rejects an object, and throws the
 * signal's abort reason.
 */
export async function applyCompiled(
  { workspace, session, on, ask }: OperationContext<DeployEvent>,
  input: DeployInput,
  compiled: CompiledForCluster,
  { began, isHeld, signal, warnings = [], unchanged = new Set(), variables = {} }: How,
): Promise<DeployOutcome> {
  const { cluster, namespace, clock, holder } = session
  const { plan, synth, services, source, part } = compiled
  const { wait: waits = false, drift = 'ask' } = input
  const environment = plan.environment.name
  const { deployEnvironment } = await import('../../environment/apply/deploy.ts')
  const isWanted = ({ service }: { readonly service: string }) => !part || part.services.has(service)
  const states = new ServiceStates({ workloads: plan.workloads.filter(isWanted) })
  refuseWithoutServices(plan, services)
  let isChanged = false
  const onChange = () => {
    isChanged = true
  }
  const stopped = () =>
    on({
      type: 'stopped',
      environment,
      namespace,
      isBegun: isChanged || states.isBegun,
      waits,
      services: states.services(),
    })
  const done = new AbortController()
  const events = deployEvents(on, states, onChange, { now: () => clock.now(), waits, deadline: session.deadline })
  const planned: typeof events.planned = (changes, wanted) => {
    events.planned(changes, wanted)
    // A deploy plans again if another one was faster.
    unchanged.clear()
    for (const one of wanted.workloads)
      if (!isJob(one.object) && keepsPods(changes.steps.get(one))) unchanged.add(one.service)
  }
  const result = await deployEnvironment(
    {
      cluster,
      plan,
      synth,
      services,
      namespace,
      holder,
      wait: waits,
      toleratesFailures: toleratesFailures(workspace, input),
      source,
      choices: choicesOf(input, compiled),
      isHeld,
      secrets: workspace.secrets,
      warnings,
      origin: await originOf(compiled.directory, workspace.env, AbortSignal.any([done.signal, signal])),
    },
    {
      clock,
      signal,
      events: {
        ...events,
        planned,
        ...(drift === 'ask' && ask?.mayOverwrite && { mayOverwrite: ask.mayOverwrite }),
      },
    },
  )
    .catch((error: unknown) => {
      if (isChanged || signal.aborted) stopped()
      throw error
    })
    .finally(() => done.abort())
  const there = {
    environment,
    namespace,
    ...(part && { named: part.named }),
    waits,
    services: states.services(),
    endpoints: addressesInOrder(result.routes),
    milliseconds: clock.now() - began,
  }
  if (result.failures.length === 0) {
    await tellLeftBehind({ session, on }, compiled, signal)
    const { isUpToDate, pruned, unready } = result
    return { kind: 'deployed', ...there, isUpToDate, pruned, unready, variables }
  }
  const { aboutGivenImages } = await import('./given-images.ts')
  const diagnostics = await aboutGivenImages(result.failures, services, input, workspace)
  on({ type: 'diagnostics', diagnostics })
  if ('ended' in result) stopped()
  return { kind: 'failed', ...there, ...('ended' in result && { ended: result.ended }) }
}

/** Throws a UserError if the Compose files have no services to deploy. */
export function refuseWithoutServices(
  { workloads }: Pick<CompiledForCluster['plan'], 'workloads'>,
  services: CompiledForCluster['services'],
): void {
  if (workloads.length === 0 && services)
    throw new UserError('the files have no services to deploy', {
      hint: 'check the profiles; `devctl destroy` deletes an environment',
    })
}

/** Returns the origin of the deployed files. Git runs in parallel with the deploy. */
async function originOf(directory: string, env: Workspace['env'], signal: AbortSignal): Promise<DeployOrigin> {
  const { askOrigin } = await import('./change-origin.ts')
  const top = repositoryOf(directory)?.top ?? directory
  return {
    shownFile(location) {
      const path = relative(top, location)
      return isAbsolute(path) || path === '..' || path.startsWith(`..${sep}`) ? undefined : path.split(sep).join('/')
    },
    ...askOrigin(directory, env, signal),
  }
}

/**
 * Reports services that keep running an old image. Best effort: skipped for users without permission to read other
 * workloads.
 */
async function tellLeftBehind(
  { session, on }: Pick<OperationContext<DeployEvent>, 'session' | 'on'>,
  compiled: CompiledForCluster,
  signal: AbortSignal,
): Promise<void> {
  if (!compiled.part) return
  const { leftBehind } = await import('./left-behind.ts')
  const found = await leftBehind(session, compiled, signal).catch((error: unknown) => {
    if (error instanceof ClusterError) return []
    throw error
  })
  for (const { service, with: other } of found)
    on({
      type: 'note',
      text: `\`${service}\` has the image of \`${other}\`, and keeps running the old one until it is deployed: \`devctl deploy ${service}\``,
    })
}

/** Returns true for a step that replaces no Pods: nothing of the Pod template changes. */
export function keepsPods(step: Step | undefined): boolean {
  if (step?.action !== 'update') return step?.action === 'unchanged'
  return !step.differences.some(({ keys: [first, second] }) => first === 'spec' && second === 'template')
}
