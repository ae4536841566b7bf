import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { type EnvironmentInput, findWorkloads } from '../../containers/workloads/find-workloads.ts'
import { unlessForbidden } from '../../environment/forbidden.ts'
import { environmentSelector } from '../../environment/labels.ts'
import { type JobOverview, listJobs } from '../../environment/status/jobs.ts'
import type { OpenProject } from '../../project/opened-project.ts'
import type { OperationContext } from '../../project/session.ts'

export interface JobsInput extends EnvironmentInput {
  /** Jobs or services to list. If absent or empty, all jobs, and all services with runs. */
  readonly services?: readonly string[] | undefined
}

export interface JobsOutcome {
  /** Name of the environment, a DNS label. */
  readonly environment: string
  readonly namespace: string
  readonly jobs: readonly JobOverview[]
  /** Time of the query, in milliseconds since 1970. */
  readonly now: number
}

/**
 * Returns the deployed jobs of an environment, with their runs that the cluster still knows. Throws a UserError if
 * nothing is deployed, and for a named service that is not deployed, or that is no job and has no runs.
 */
export async function jobs(world: OperationContext, input: JobsInput, project: OpenProject): Promise<JobsOutcome> {
  const { cluster, namespace, clock, signal } = world.session
  const { known, chosen, runs, leads } = await findWorkloads(world, input, input.services ?? [], project)
  const labels = `${environmentSelector(known.name)},job-name`
  const pods = await unlessForbidden(cluster.list({ apiVersion: 'v1', kind: 'Pod', namespace, labels }, { signal }), [])
  const now = clock.now()
  const found = listJobs([...chosen, ...runs, ...pods], now)
  const other = [...leads].find(([, lead]) => !found.some(({ job }) => job === lead))?.[0]
  if (other !== undefined)
    throw new UserError(`\`${other}\` is not a job, and has no runs`, {
      hint: `\`devctl run ${other} -- COMMAND\` runs a command in its container`,
    })
  return { environment: known.name, namespace, jobs: found, now }
}
