/** The properties of a run that the order of the queue depends on. */
export interface QueuedRun {
  /** Sorts by age. */
  readonly id: string
  readonly namespace: string
  readonly environment: string
  readonly action: 'deploy' | 'destroy'
  readonly user: string
  /** Absent: a person started it. */
  readonly hook?: string
  /** The states of a run that has not ended; `stopping`: it was told to stop. */
  readonly state: 'queued' | 'running' | 'stopping'
}

/** Concurrent runs. */
export interface QueueLimits {
  readonly perUser: number
  readonly inAll: number
}

/** Actions on the queue, by the ids of the runs. */
export interface QueueDecision {
  readonly start: readonly string[]
  /** Queued runs that a newer one of the same environment replaces: they never start. */
  readonly replace: readonly string[]
  /** Active deploys with a newer run waiting: the next one continues from their state. */
  readonly stop: readonly string[]
}

/**
 * The queue (design, section 6): the oldest first, one run of an environment at a time, within the limits. Runs that
 * webhooks start for a user take no place that the user could need. `runs` are those that have not ended. Deciding
 * twice has the same result.
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

/** Ended runs, as the history counts them. */
export interface EndedRun {
  readonly id: string
  readonly namespace: string
  readonly environment: string
}

/**
 * The ids of the runs to delete: the history keeps the newest of each environment, and the newest of each namespace.
 */
export function forgotten(
  runs: readonly EndedRun[],
  { perEnvironment, perNamespace }: { readonly perEnvironment: number; readonly perNamespace: number },
): readonly string[] {
  const counts = new Map<string, number>()
  const next = (key: string) => {
    const count = (counts.get(key) ?? 0) + 1
    counts.set(key, count)
    return count
  }
  return [...runs]
    .sort((a, b) => (a.id < b.id ? 1 : -1))
    .filter(run => next(environmentOf(run)) > perEnvironment || next(run.namespace) > perNamespace)
    .map(({ id }) => id)
}
