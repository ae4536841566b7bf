import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { isJob } from '../../constructs/kinds.ts'
import { restartsWith } from '../../constructs/labels.ts'
import { leadsAmong, workloadsOf } from '../../containers/workloads/find-workloads.ts'
import { requireDeployed } from '../../containers/workloads/not-deployed.ts'
import { environmentSelector } from '../../environment/labels.ts'
import { serviceOf } from '../../environment/plan/desired-state.ts'
import type { LoadInput } from '../../project/input.ts'
import { findEnvironment } from '../../project/known-environment.ts'
import { serviceWords } from '../../project/names/service-words.ts'
import type { OpenProject } from '../../project/opened-project.ts'
import type { OperationContext } from '../../project/session.ts'
import { type Tolerance, toleratesFailures } from '../../project/tolerance.ts'
import { deployEvents } from '../deploy/progress.ts'
import type { ServiceStates } from '../deploy/service-states.ts'

export interface RestartInput extends LoadInput, Tolerance {
  /** Name of the environment. If absent, the name in the files. */
  readonly name?: string | undefined
  /**
   * Services to restart. Services that depend on them with `restart: true` are restarted, too. If absent or empty, all
   * services except Jobs.
   */
  readonly services?: readonly string[] | undefined
  /** True to wait until the new Pods are ready. */
  readonly wait?: boolean | undefined
}

export interface RestartOutcome {
  /** Name of the environment, a DNS label. */
  readonly environment: string
  readonly namespace: string
  readonly restarted: readonly string[]
  /** Jobs; they were not restarted, because they run only once. */
  readonly skipped: readonly string[]
  /** Services that failed to become ready again; the problems were reported. */
  readonly failed: readonly string[]
  readonly waits: boolean
  readonly milliseconds: number
}

/**
 * Restarts services by replacing their Pods. Throws a UserError for a service that is not deployed, and for a named
 * Job.
 */
export async function restart(
  world: OperationContext,
  input: RestartInput,
  project: OpenProject,
): Promise<RestartOutcome> {
  const { session, on } = world
  const { cluster, namespace, clock, signal, holder } = session
  const { services: words = [], wait: waits = false } = input
  const began = clock.now()
  const known = await findEnvironment(world, input, project)
  const environment = known.name
  const { restartServices } = await import('../../environment/apply/restart.ts')
  const labels = environmentSelector(environment)
  const services = await cluster.list({ apiVersion: 'v1', kind: 'Service', namespace, labels }, { signal })
  if (input.name !== undefined && services.length === 0) await requireDeployed(session, environment)
  const toLabels = await serviceWords(known)
  const skipped: string[] = []
  const select = (workloads: readonly KubeObject[]): readonly KubeObject[] => {
    if (words.length > 0) {
      const leads = leadsAmong(toLabels(words, [...workloads, ...services]), services)
      // An application without workloads is reported as a whole.
      return workloads.length === 0 ? [] : withDependants(refuseJobs(workloadsOf(leads, workloads)), workloads)
    }
    skipped.push(...workloads.filter(({ kind }) => kind === 'Job').map(one => serviceOf(one)!))
    return workloads.filter(one => !isJob(one))
  }
  const { planned: _, ...events } = deployEvents(on, NOTHING_COUNTED, () => {}, {
    now: () => clock.now(),
    waits,
    deadline: session.deadline,
  })
  const { restarted, failures, failedServices, ended } = await restartServices(
    {
      ...{ cluster, environment, namespace, holder, select, wait: waits, services: known.services },
      toleratesFailures: toleratesFailures(world.workspace, input),
    },
    { clock, signal, events },
  )
  if (restarted.length === 0) {
    await requireDeployed(session, environment)
    throw new UserError(`${environment} has nothing to restart in ${namespace}`, {
      hint: skipped.length > 0 ? jobsHint(skipped) : '`devctl deploy` deploys it',
    })
  }
  on({ type: 'diagnostics', diagnostics: failures })
  if (ended !== undefined) throw ended
  return {
    environment,
    namespace,
    restarted,
    skipped,
    failed: failedServices,
    waits,
    milliseconds: clock.now() - began,
  }
}

/** Handlers that ignore the events, because a restart reports the state of each service itself. */
const NOTHING_COUNTED: Pick<ServiceStates, 'events'> = { events: { planned() {}, applied() {}, status() {} } }

/** Returns a hint with the command that runs these Jobs again. */
export const jobsHint = (jobs: readonly string[]): string =>
  `a Job runs again with \`devctl deploy ${jobs.map(one => `--rerun ${one}`).join(' ')}\``

/** Returns the workloads of named services. Throws a UserError for Jobs and CronJobs. */
function refuseJobs(workloads: readonly KubeObject[]): readonly KubeObject[] {
  const job = workloads.find(isJob)
  if (!job) return workloads
  const service = serviceOf(job)
  const [what, hint] =
    job.kind === 'Job'
      ? ['Job, which runs once', `\`devctl deploy --rerun ${service}\` runs it again`]
      : ['job, which has no Pods between its runs', `\`devctl run ${service}\` runs it`]
  throw new UserError(`\`${service}\` is a ${what}`, { hint })
}

/** Adds the workloads that depend on a restarted workload with `restart: true`, except Jobs, which run only once. */
function withDependants(restarted: readonly KubeObject[], workloads: readonly KubeObject[]): readonly KubeObject[] {
  const all = new Set(restarted)
  // A set also visits the members that are added during the loop.
  for (const one of all)
    for (const other of workloads) if (!isJob(other) && restartsWith(other).includes(serviceOf(one)!)) all.add(other)
  return [...all]
}
