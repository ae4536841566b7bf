import { diskText, isFilling } from './registry-disk.ts'

/** What is known of a platform when it is asked how it is. */
export interface Health {
  /** The replica that leads. */
  readonly leader: string | undefined
  /** The workloads of the platform itself; undefined: there is none by this name, though there should be. */
  readonly workloads: Readonly<Record<string, { readonly ready: number; readonly wanted: number } | undefined>>
  /** Work of the leader that fails; known to the replica that leads. */
  readonly failing: readonly { readonly task: string; readonly message: string; readonly times: number }[]
  /** Namespaces that could not be deleted. */
  readonly failed: number
  /** The disk of the platform's own registry, in bytes; absent: it was not measured. */
  readonly registry?: { readonly size: number; readonly free: number }
  /** Whether there is an image that runs could run in. */
  readonly hasRunner: boolean
  /** Milliseconds for which the run that comes next waits; absent: none waits. */
  readonly waiting?: number
  /** Runs that run, and that may at the same time. */
  readonly running: number
  readonly most: number
}

/** Something that an administrator has to look at. */
export interface HealthProblem {
  readonly message: string
  readonly hint?: string
}

/** Failures of a task, one after the other, of which no more is said to pass by itself. */
const AGAIN_AND_AGAIN = 3
/** Milliseconds after which a run should have begun where there is room for it. */
const PATIENCE = 60_000
/** Milliseconds after which it should have where there is none. */
const LONG = 600_000

/** What is wrong with a platform, the worst first. */
export function healthProblems(health: Health): readonly HealthProblem[] {
  const { leader, workloads, failing, failed, registry, hasRunner, waiting = 0, running, most } = health
  const isFull = running >= most
  return [
    ...(leader === undefined
      ? [
          {
            message: 'no replica leads: runs do not start, and nothing sleeps',
            hint: 'another one takes over within seconds; else see `kubectl --namespace devctl-platform logs deployment/platform`',
          },
        ]
      : []),
    ...Object.entries(workloads).flatMap(([name, found]) => workloadProblem(name, found) ?? []),
    ...failing
      .filter(({ times }) => times >= AGAIN_AND_AGAIN)
      .map(({ task, message }) => ({ message: `the server does not get on with ${task}: ${message}`, hint: LOGS })),
    ...(registry && isFilling(registry) ? [fillingDisk(registry)] : []),
    ...(hasRunner
      ? []
      : [
          {
            message: 'there is no image for runs: nothing is deployed by the cluster',
            hint: '`devctl platform install` names it',
          },
        ]),
    ...(leader !== undefined && waiting > PATIENCE && !isFull
      ? [{ message: `a run waits for ${minutes(waiting)}, though there is room for it`, hint: LOGS }]
      : []),
    ...(waiting > LONG && isFull
      ? [
          {
            message: `a run waits for ${minutes(waiting)}: ${running} run, as many as may`,
            hint: 'let more run at the same time: `runs.inAll` of the settings',
          },
        ]
      : []),
    ...(failed > 0
      ? [
          {
            message: `${failed === 1 ? 'a namespace' : `${failed} namespaces`} could not be deleted`,
            hint: 'mend what its commands need and delete it again, or delete it without them: `devctl namespace delete NAME --force`',
          },
        ]
      : []),
  ]
}

/** That the disk of the registry is nearly full. */
export const fillingDisk = (disk: NonNullable<Health['registry']>): HealthProblem => ({
  message: `the disk of the registry is nearly full: ${diskText(disk)}`,
  hint: 'remove images that nobody uses (docs/platform.md says how), or enlarge the claim `data-registry-0` of `devctl-platform`',
})

const LOGS =
  'the log of the replica that leads says why: `kubectl --namespace devctl-platform logs deployment/platform`'

function workloadProblem(name: string, found: Health['workloads'][string]): HealthProblem | undefined {
  if (!found) return { message: `\`${name}\` is not there any more`, hint: '`devctl platform install` makes it again' }
  if (found.ready >= found.wanted) return undefined
  return {
    message: `\`${name}\`: ${found.ready} of ${found.wanted} ready`,
    hint: '`devctl platform status` says why',
  }
}

const minutes = (milliseconds: number): string => `${Math.floor(milliseconds / 60_000)} min`
