import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { type EnvironmentInput, findWorkloads, servicesOf } from '../../containers/workloads/find-workloads.ts'
import { replicasOf, scaledFrom } from '../../environment/apply/scaled.ts'
import { serviceOf } from '../../environment/plan/desired-state.ts'
import { statusOf } from '../../environment/rollout/status.ts'
import { isManual } from '../../environment/status/jobs.ts'
import type { OpenProject } from '../../project/opened-project.ts'
import type { OperationContext } from '../../project/session.ts'
import { refuseMember } from './scale.ts'
import { applyScalings, type Scaling } from './set-replicas.ts'

export interface StopInput extends EnvironmentInput {
  /** Services to stop or start; for `stop`, also runs, by the names of their Jobs. If absent or empty, all services. */
  readonly services?: readonly string[] | undefined
}

export interface StopOutcome {
  /** Name of the environment, a DNS label. */
  readonly environment: string
  readonly namespace: string
  /** Services that were stopped, or started. */
  readonly changed: readonly string[]
  /** Services that were already stopped, or already running. */
  readonly unchanged: readonly string[]
  /** Jobs and DaemonSets. They were skipped, which is possible only if the user named no services. */
  readonly skipped: readonly string[]
  /** Runs that were ended and deleted. */
  readonly ended: readonly string[]
  /** Jobs with schedules among `changed` and `unchanged`: they were suspended, or resumed. */
  readonly jobs: readonly string[]
}

/**
 * Stops services: their workloads get no replicas, and CronJobs are suspended. `start` and the next deploy start them
 * again. A run that is named is ended and deleted. Throws a UserError for a named Job or DaemonSet, and for a named job
 * without a schedule.
 */
export const stop = (world: OperationContext, input: StopInput, project: OpenProject): Promise<StopOutcome> =>
  change(world, input, project, 'stop')

/** Starts services that `stop` has stopped, with the number of replicas that they had. */
export const start = (world: OperationContext, input: StopInput, project: OpenProject): Promise<StopOutcome> =>
  change(world, input, project, 'start')

async function change(
  world: OperationContext,
  input: StopInput,
  project: OpenProject,
  verb: 'stop' | 'start',
): Promise<StopOutcome> {
  const words = input.services ?? []
  const { known, chosen, namedRuns, leads } = await findWorkloads(world, input, words, project, { takesRuns: true })
  for (const run of namedRuns) refuseRun(run, verb)
  for (const [label, lead] of leads) refuseMember(label, lead, `devctl ${verb} ${lead}`)
  const fixed = chosen.filter(one => one.kind === 'Job' || one.kind === 'DaemonSet')
  if (words.length > 0 && fixed[0]) refuseFixed(fixed[0], verb)
  const manual = chosen.filter(isManual)
  if (words.length > 0 && manual[0]) refuseManual(manual[0], verb)
  const others = chosen.filter(one => !fixed.includes(one) && !manual.includes(one))
  const scalings = others.flatMap((workload): Scaling[] => {
    const isStopped = replicasOf(workload) === 0
    if (isStopped === (verb === 'stop')) return []
    return [{ workload, replicas: verb === 'stop' ? 0 : replicasToStart(workload, words.length > 0) }]
  })
  const starting = scalings.filter(({ replicas }) => verb === 'stop' || replicas > 0)
  await endRuns(world, namedRuns)
  await applyScalings(world, known.name, starting)
  const changed = servicesOf(starting.map(({ workload }) => workload))
  return {
    environment: known.name,
    namespace: world.session.namespace,
    changed,
    unchanged: servicesOf(others).filter(one => !changed.includes(one)),
    skipped: servicesOf(fixed),
    ended: namedRuns.map(({ metadata }) => metadata.name),
    jobs: servicesOf(others.filter(({ kind }) => kind === 'CronJob')),
  }
}

/**
 * Throws a UserError for a run that has ended. For `start`, throws a UserError for every run, because a run starts only
 * once.
 */
function refuseRun(run: KubeObject, verb: 'stop' | 'start'): void {
  const { name } = run.metadata
  const { state } = statusOf(run)
  if (verb === 'start')
    throw new UserError(`\`${name}\` is a run, which starts once`, { hint: '`devctl run JOB` starts another' })
  if (state === 'complete' || state === 'failed')
    throw new UserError(`the run \`${name}\` has ended already`, { hint: `\`devctl logs ${name}\` prints its log` })
}

/** Deletes runs and, in the background, their Pods, as Ctrl-C in `devctl run` does. */
async function endRuns(
  { session: { cluster, namespace, signal } }: OperationContext,
  runs: readonly KubeObject[],
): Promise<void> {
  for (const { apiVersion, kind, metadata } of runs)
    await cluster.delete({ apiVersion, kind, name: metadata.name, namespace }, { propagation: 'Background', signal })
}

/**
 * Returns the number of replicas with which a service starts: the number that it had before `stop` or `scale`. If no
 * such number is recorded, returns 0, or throws a UserError if the service is named.
 */
function replicasToStart(workload: KubeObject, isNamed: boolean): number {
  const from = scaledFrom(workload)
  const replicas = from?.start ?? from?.replicas ?? 0
  if (replicas > 0 || !isNamed) return replicas
  const service = serviceOf(workload)!
  throw new UserError(`\`${service}\` was not stopped by devctl, and has no replicas`, {
    hint: `\`devctl scale ${service}=1\` starts it until the next deploy`,
  })
}

function refuseManual(workload: KubeObject, verb: 'stop' | 'start'): never {
  const job = serviceOf(workload)!
  throw new UserError(`\`${job}\` is a job without a schedule, which only users start`, {
    hint: verb === 'start' ? `\`devctl run ${job}\` runs it` : `\`devctl jobs ${job}\` lists its runs`,
  })
}

function refuseFixed(workload: KubeObject, verb: 'stop' | 'start'): never {
  const service = serviceOf(workload)!
  const what = workload.kind === 'Job' ? 'a Job, which ends by itself' : 'a DaemonSet, which runs on each node'
  const hint =
    verb === 'stop'
      ? `\`devctl destroy ${service}\` deletes it, and keeps its data`
      : workload.kind === 'Job'
        ? `\`devctl deploy --rerun ${service}\` runs it again`
        : `\`devctl deploy ${service}\` deploys it`
  throw new UserError(`\`${service}\` is ${what}`, { hint })
}
