import { diskText, isFilling } from '../registry/registry-disk.ts'

/** The facts that the health of a platform is derived from. */
export interface Health {
  /** Name of the replica that is the leader; undefined if there is no leader. */
  readonly leader: string | undefined
  /**
   * Numbers of ready and of wanted Pods of the platform's own workloads, by the name of the workload; undefined for a
   * workload that should exist but does not.
   */
  readonly workloads: Readonly<Record<string, { readonly ready: number; readonly wanted: number } | undefined>>
  /** Failing tasks of the leader. Only the leader knows them. */
  readonly failing: readonly { readonly task: string; readonly message: string; readonly times: number }[]
  /** Number of namespaces that could not be deleted. */
  readonly failed: number
  /** Size and free space of the disk of the platform's own registry, in bytes. Absent if not measured. */
  readonly registry?: { readonly size: number; readonly free: number }
  /** True if an image for runs is configured. */
  readonly hasRunner: boolean
  /** Milliseconds for which the oldest queued run has been waiting. Absent if none is waiting. */
  readonly waiting?: number
  /** Milliseconds for which the next run that the limits allow to start has been waiting. Absent if there is none. */
  readonly startable?: number
  /** Number of active runs, and the maximum number of them. */
  readonly running: number
  readonly most: number
}

/** A problem that an administrator has to fix. */
export interface HealthProblem {
  readonly message: string
  readonly hint?: string
}

/** Number of consecutive failures after which a task is no longer expected to recover, and is reported as a problem. */
const AGAIN_AND_AGAIN = 3
/** Time in milliseconds that a run may wait although it could start. A longer wait is reported as a problem. */
const PATIENCE = 60_000
/**
 * Time in milliseconds that a run may wait while the maximum number of runs is active. A longer wait is reported as a
 * problem.
 */
const LONG = 600_000

/** Problem that is reported if no replica holds the Lease. */
export const NO_LEADER: HealthProblem = {
  message: 'no replica leads: runs do not start, and idle namespaces stay awake',
  hint: 'if no other replica takes over within seconds, see `kubectl --namespace devctl-platform logs deployment/platform`',
}

/** Returns the problems of a platform, worst first. */
export function healthProblems(health: Health): readonly HealthProblem[] {
  const { leader, workloads, failing, failed, registry, hasRunner, waiting = 0, startable = 0, running, most } = health
  return [
    ...(leader === undefined ? [NO_LEADER] : []),
    ...Object.entries(workloads).flatMap(([name, found]) => workloadProblem(name, found) ?? []),
    ...failing
      .filter(({ times }) => times >= AGAIN_AND_AGAIN)
      .map(({ task, message }) => ({ message: `the server repeatedly fails at ${task}: ${message}`, hint: LOGS })),
    ...(registry && isFilling(registry) ? [fillingDisk(registry)] : []),
    ...(hasRunner
      ? []
      : [
          {
            message: 'there is no image for runs, so no run can start',
            hint: 'to set it, run `devctl platform install`',
          },
        ]),
    ...(leader !== undefined && startable > PATIENCE
      ? [{ message: `a run has been waiting for ${minutes(startable)}, although there is room for it`, hint: LOGS }]
      : []),
    ...(waiting > LONG && running >= most
      ? [
          {
            message: `a run has been waiting for ${minutes(waiting)}: ${running} are running, which is the limit`,
            hint: 'to run more at a time, raise `runs.inAll` of the settings',
          },
        ]
      : []),
    ...(failed > 0 ? [failedDeletions(failed)] : []),
  ]
}

/** Returns the problem that is reported if this number of namespaces could not be deleted. */
export const failedDeletions = (count: number): HealthProblem => ({
  message: `${count === 1 ? 'a namespace' : `${count} namespaces`} could not be deleted`,
  hint: 'fix the problem and delete it again, or skip its `destroy` commands: `devctl namespace delete NAME --force`',
})

/** Returns the problem that is reported if the disk of the registry is nearly full. */
export const fillingDisk = (disk: NonNullable<Health['registry']>): HealthProblem => ({
  message: `the disk of the registry is nearly full: ${diskText(disk)}`,
  hint: 'remove images that nobody uses (docs/platform/builds.md says how), or enlarge the claim `data-registry-0` of `devctl-platform`',
})

const LOGS =
  'the log of the replica that leads says why: `kubectl --namespace devctl-platform logs deployment/platform`'

function workloadProblem(name: string, found: Health['workloads'][string]): HealthProblem | undefined {
  if (!found)
    return { message: `\`${name}\` no longer exists`, hint: 'to create it again, run `devctl platform install`' }
  if (found.ready >= found.wanted) return undefined
  return {
    message: `\`${name}\`: ${found.ready} of ${found.wanted} ready`,
    hint: '`devctl platform status` says why',
  }
}

const minutes = (milliseconds: number): string => `${Math.floor(milliseconds / 60_000)} min`
