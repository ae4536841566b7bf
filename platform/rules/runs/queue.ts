import { lastDeploys } from './deletion.ts'
import type { RunAction, RunState } from './run-states.ts'

/** The properties of a run that determine the order of the queue. */
export interface QueuedRun {
  /** Id of the run; ids sort by age. */
  readonly id: string
  readonly namespace: string
  readonly environment: string
  readonly action: 'deploy' | 'destroy'
  readonly user: string
  /** Id of the webhook that started the run; absent if a person did. */
  readonly hook?: string
  /** State of a run that has not ended; `stopping`: a stop was requested. */
  readonly state: 'queued' | 'running' | 'stopping'
}

/** Maximum numbers of concurrent runs: of one user, and in total. */
export interface QueueLimits {
  readonly perUser: number
  readonly inAll: number
}

/** Decisions about the queue, as ids of runs. */
export interface QueueDecision {
  readonly start: readonly string[]
  /** Queued runs that a newer run of the same environment replaces; they never start. */
  readonly replace: readonly string[]
  /**
   * Active deploys to stop, because a newer run is waiting. The newer run continues from the state in which a stopped
   * deploy leaves the environment.
   */
  readonly stop: readonly string[]
}

/**
 * Decides which runs start, are replaced, or stop (design, section 6). Older runs start first, one run of an
 * environment at a time, within the limits. The limit for a run that a user has started counts only such runs of the
 * user; the limit for a run that a webhook has started counts all runs of the user. `runs` contains all runs that have
 * not ended. A repeated call returns the same decision.
 */
export function decideQueue(runs: readonly QueuedRun[], { perUser, inAll }: QueueLimits): QueueDecision {
  const all = [...runs].sort((a, b) => (a.id < b.id ? -1 : 1))
  const active = all.filter(({ state }) => state !== 'queued')
  const newest = new Map<string, QueuedRun>()
  for (const run of all) if (run.state === 'queued') newest.set(environmentOf(run), run)
  const busy = new Set(active.map(environmentOf))
  const [ofUser, own] = [new Map<string, number>(), new Map<string, number>()]
  const count = ({ user, hook }: QueuedRun) => {
    ofUser.set(user, (ofUser.get(user) ?? 0) + 1)
    if (hook === undefined) own.set(user, (own.get(user) ?? 0) + 1)
  }
  for (const run of active) count(run)
  const start: string[] = []
  for (const run of all) {
    if (newest.get(environmentOf(run)) !== run || busy.has(environmentOf(run))) continue
    const taken = (run.hook === undefined ? own : ofUser).get(run.user) ?? 0
    if (taken >= perUser || active.length + start.length >= inAll) continue
    start.push(run.id)
    count(run)
  }
  return {
    start,
    replace: all.filter(run => run.state === 'queued' && newest.get(environmentOf(run)) !== run).map(({ id }) => id),
    stop: active
      .filter(run => run.state === 'running' && run.action === 'deploy' && newest.has(environmentOf(run)))
      .map(({ id }) => id),
  }
}

const environmentOf = ({ namespace, environment }: Pick<QueuedRun, 'namespace' | 'environment'>): string =>
  `${namespace}/${environment}`

/** An ended run, with the properties that decide whether the history keeps it. */
export interface EndedRun {
  readonly id: string
  readonly namespace: string
  readonly environment: string
  readonly action: RunAction
  readonly state: RunState
  /** True if the run has cloned a commit. */
  readonly hasCommit: boolean
}

/**
 * Returns the ids of the runs to delete. The history keeps only a limited number of the newest runs of each
 * environment, and of each namespace. It also keeps the last deploys, because their environments are destroyed with the
 * commands of their commits.
 */
export function forgotten(
  runs: readonly EndedRun[],
  { perEnvironment, perNamespace }: { readonly perEnvironment: number; readonly perNamespace: number },
): readonly string[] {
  const newestFirst = [...runs].sort((a, b) => (a.id < b.id ? 1 : -1))
  const [ofEnvironment, ofNamespace, deploysOf] = [counter(), counter(), counter()]
  const needed = new Set(
    lastDeploys(newestFirst, environmentOf, run => run.hasCommit).filter(
      ({ namespace }) => deploysOf(namespace) <= perNamespace,
    ),
  )
  return newestFirst
    .filter(run => ofEnvironment(environmentOf(run)) > perEnvironment || ofNamespace(run.namespace) > perNamespace)
    .filter(run => !needed.has(run))
    .map(({ id }) => id)
}

/** Returns a function that counts its calls with each key, and returns the count including the current call. */
function counter(): (key: string) => number {
  const counts = new Map<string, number>()
  return key => {
    const count = (counts.get(key) ?? 0) + 1
    counts.set(key, count)
    return count
  }
}
