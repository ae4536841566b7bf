import type { OpenProject } from '../../project/opened-project.ts'
import { type EnvironmentInput, findWorkloads } from '../workloads/find-workloads.ts'
import { connectTo } from './connect.ts'
import { followRun } from './follow-run.ts'
import type { RunContext } from './run-context.ts'
import { toRunJob } from './run-job.ts'
import { newRunName } from './run-name.ts'

export interface RunOnceInput extends EnvironmentInput {
  /** Job or service to run. */
  readonly service: string
  /** Arguments that replace `command`. If absent or empty, `command` of the file is used. */
  readonly command?: readonly string[] | undefined
  /** Variables in addition to the variables of the file. */
  readonly variables?: Readonly<Record<string, string>> | undefined
  /** True to start without waiting for dependencies. */
  readonly noDeps?: boolean | undefined
  /** True to return as soon as the run is created. */
  readonly detach?: boolean | undefined
  /** True to delete the run when it has ended. */
  readonly rm?: boolean | undefined
  /** Time within which the container has to start, in milliseconds. Default: five minutes. */
  readonly startTimeout?: number | undefined
}

export interface RunOutcome {
  /** Name of the Job. */
  readonly job: string
  readonly namespace: string
  /** Exit status of the container; absent if the run is detached. */
  readonly status?: number
}

const START_TIMEOUT = 300_000

/**
 * Runs the container of a deployed job or service once, as a Job, and follows it to its end. Deletes the Job if it
 * cannot start or if the signal is aborted. Throws a UserError if the service is not deployed.
 */
export async function run(world: RunContext, input: RunOnceInput, project: OpenProject): Promise<RunOutcome> {
  const { session, input: stdin, terminal } = world
  const { cluster, namespace, clock, signal } = session
  const { service, command = [], variables = {}, noDeps = false, startTimeout = START_TIMEOUT } = input
  const { chosen, leads } = await findWorkloads(world, input, [service], project)
  const [[label]] = [...leads] as [[string, string]] // of the one service that is named
  const name = newRunName(label)
  const { job, container } = toRunJob(chosen[0]!, label, {
    ...{ name, command, variables, noDeps },
    input: input.detach ? undefined : terminal ? 'terminal' : stdin && 'stream',
    // A run that is followed is deleted below, after its output has been read.
    isRemoved: input.detach && input.rm,
  })
  await cluster.create(job, { signal })
  if (input.detach) return { job: name, namespace }
  // Deleted even after an abort, so without the signal.
  const remove = () => cluster.delete({ ...job, name, namespace }, { propagation: 'Background' })
  const now = () => clock.now()
  let isOver = false
  try {
    const connect = connectTo(world, container)
    const status = await followRun({ cluster, namespace, job: name, container, startTimeout, now }, connect, signal)
    isOver = true
    return { job: name, namespace, status }
  } finally {
    if (input.rm || !isOver) await remove()
  }
}
