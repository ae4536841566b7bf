import { Slots } from '../../adapters/http/slots.ts'
import type { CallOptions, Cluster, ClusterError, KubeObject, ObjectQuery } from '../../adapters/kubernetes/cluster.ts'
import type { Clock } from '../clock.ts'
import { environmentSelector } from '../labels.ts'
import { statusOf } from '../rollout/status.ts'
import { Cursor } from './cursor.ts'
import { type Following, followContainer, type LogPosition } from './follow.ts'
import { Followers } from './followers.ts'
import type { LogLine } from './line.ts'
import { type Late, mergeLogs } from './merge.ts'
import { earlierRuns, jobOf } from './newest-runs.ts'
import { type PodLimits, PodSet } from './pod-set.ts'
import { type LogRange, readHistory } from './read.ts'
import { type ExitStatus, isFinished, type LogSource, runOf, sourcesOf } from './source.ts'
import type { WatchedPod } from './watched-pod.ts'

/**
 * Maximum number of logs that are open at once. For each of them, the API server keeps two connections: to devctl, and
 * to a node.
 */
export const MAX_OPEN_LOGS = 100

export interface LogRequest {
  readonly cluster: Cluster
  readonly namespace: string
  /** Name of the environment; undefined for all Pods of the namespace. */
  readonly environment: string | undefined
  /**
   * Range of lines to show of the containers that ran before the command started. Containers that start later are shown
   * from their beginning.
   */
  readonly range: LogRange
  /** True to continue with lines that are written from now on. */
  readonly follow: boolean
  /** Maximum length of a line in characters; longer lines come in pieces. Defaults to the limit of the cluster. */
  readonly longestLine?: number
  /** Limits for Pods; if absent, there are none. */
  readonly limits?: PodLimits
  isWanted(source: LogSource): boolean
}

export interface LogContext {
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Prints a line. No further line is read until the returned promise has resolved. */
  print(source: LogSource, line: LogLine): Promise<void> | void
  /** Called with the containers whose logs are read. */
  found(sources: readonly LogSource[]): void
  /** Called if no container is selected, with the existing containers. An error that it throws ends the command. */
  nothing(present: readonly LogSource[]): Promise<void> | void
  /** Called if more logs than `MAX_OPEN_LOGS` should be followed, or Pods exceed the limits. */
  crowded(): void
  ended(source: LogSource, exit: ExitStatus): void
  troubled(source: LogSource, error: ClusterError): void
  word(source: LogSource, text: string): void
}

/** Container that existed when the command started. */
interface Begun {
  readonly source: LogSource
  readonly pod: WatchedPod
  readonly position: LogPosition
}

/**
 * Prints the logs of an environment: first the existing lines, ordered by time, then new lines, across restarts and
 * including new Pods. Of the runs of a job that have ended, only the newest is printed. Returns when no further lines
 * can come, because all containers belong to Jobs that have ended; otherwise throws the signal's abort reason.
 * Throws if the cluster rejects a request.
 */
export async function showLogs(request: LogRequest, world: LogContext): Promise<void> {
  const { cluster, namespace, environment, longestLine, limits, isWanted } = request
  const query: ObjectQuery = {
    apiVersion: 'v1',
    kind: 'Pod',
    namespace,
    labels: environment === undefined ? undefined : environmentSelector(environment),
  }
  const stop = new AbortController()
  const signal = AbortSignal.any([world.signal, stop.signal])
  const slots = new Slots(MAX_OPEN_LOGS, world.crowded)
  const following: Following = { ...world, cluster, signal, slots, longestLine }

  const pods = new PodSet({ cluster, query, limits, isWanted, onCut: world.crowded })
  try {
    await showPods(request, { ...world, signal }, { following, pods, stop })
  } finally {
    stop.abort()
    pods.close()
  }
}

/** State of one call of `showLogs`. */
interface Showing {
  readonly following: Following
  readonly pods: PodSet
  readonly stop: AbortController
}

async function showPods(request: LogRequest, world: LogContext, { following, pods, stop }: Showing): Promise<void> {
  const { cluster, namespace, range, follow, isWanted } = request
  const { signal } = world
  const wantedOf = (pod: KubeObject) => sourcesOf(pod).filter(isWanted)
  const present = await pods.list(signal)
  const isEarlier = earlierRuns(present.map(({ object }) => object))
  // An earlier run is printed if the user has named it, instead of its service.
  const isNamed = ({ job: _, ...source }: LogSource) => !isWanted(source)
  const begun = present.flatMap(pod =>
    wantedOf(pod.object)
      .filter(one => !isEarlier(pod.object) || isNamed(one))
      .map((source): Begun => {
        const run = runOf(pod.object, source.container)
        return { source, pod, position: { cursor: new Cursor(), ...(run && { range, run }) } }
      }),
  )
  if (begun.length === 0) await world.nothing(present.flatMap(pod => sourcesOf(pod.object)))
  else world.found(begun.map(({ source }) => source))

  const late = await showHistory(following, begun, range)
  if (!follow) {
    await Promise.all([...late].map(([{ source }, rest]) => printAll(following, source, rest)))
    return
  }

  const followers = new Followers(stop, () => {
    const jobs = jobsOfFinished(pods.objects.filter(pod => wantedOf(pod).length > 0))
    return jobs && ((options: CallOptions) => untilJobsEnd(cluster, namespace, jobs, options))
  })
  for (const one of begun)
    followers.start(async () => {
      const rest = late.get(one)
      if (rest) await printAll(following, one.source, rest)
      await followContainer(forOne(following), one.pod, one.source, one.position)
    })
  try {
    for await (const pod of pods.watch(signal)) {
      const sources = wantedOf(pod.object)
      if (sources.length > 0) world.found(sources)
      for (const source of sources) followers.start(() => followContainer(forOne(following), pod, source))
    }
  } catch (error) {
    if (!followers.areDone) throw followers.failure ?? error
  }
}

/**
 * Returns a copy of `following` with a separate signal, because Node prints a warning about a signal with many
 * listeners.
 */
const forOne = (following: Following): Following => ({ ...following, signal: AbortSignal.any([following.signal]) })

/**
 * Prints the existing lines of the containers, reading as many logs at a time as may be open. Returns the logs that
 * took too long to wait for.
 */
async function showHistory(
  following: Following,
  begun: readonly Begun[],
  range: LogRange,
): Promise<ReadonlyMap<Begun, AsyncIterable<LogLine>>> {
  const late: Late<Begun>[] = []
  const logs = begun.flatMap(one => {
    const { run, cursor } = one.position
    if (!run || range.tail === 0) return []
    return { source: one, lines: readHistory(forOne(following), one.source, run, cursor, range) }
  })
  const print = ({ source }: Begun, line: LogLine) => following.print(source, line)
  for (let at = 0; at < logs.length; at += MAX_OPEN_LOGS)
    late.push(...(await mergeLogs(logs.slice(at, at + MAX_OPEN_LOGS), print, following.clock)))
  return new Map(late.map(({ source, rest }) => [source, rest]))
}

/** Prints a log to its end, or until it cannot be read. */
async function printAll(following: Following, source: LogSource, lines: AsyncIterable<LogLine>): Promise<void> {
  for await (const line of lines) await following.print(source, line)
}

/**
 * Returns the Jobs that the Pods belong to if all Pods have finished; undefined if a Pod has not finished, or belongs
 * to a controller that keeps starting new Pods.
 */
function jobsOfFinished(pods: readonly KubeObject[]): ReadonlySet<string> | undefined {
  if (pods.length === 0 || !pods.every(isFinished)) return undefined
  const jobs = pods.map(jobOf)
  return jobs.every(name => name !== undefined) ? new Set(jobs) : undefined
}

/**
 * Resolves when the Jobs have ended or no longer exist, after which no further Pods are created. Rejects with the
 * signal's abort reason, or if the user has no permission to watch Jobs.
 */
async function untilJobsEnd(
  cluster: Cluster,
  namespace: string,
  jobs: ReadonlySet<string>,
  { signal }: CallOptions,
): Promise<void> {
  let left = new Set(jobs)
  let listed = new Set<string>()
  for await (const change of cluster.watch({ apiVersion: 'batch/v1', kind: 'Job', namespace }, { signal })) {
    if (change.type === 'Restarted') listed = new Set()
    else if (change.type === 'Listed') left = new Set([...left].filter(name => listed.has(name)))
    else {
      const { object, type } = change
      listed.add(object.metadata.name)
      if (type === 'Deleted' || statusOf(object).state !== 'waiting') left.delete(object.metadata.name)
    }
    if (left.size === 0) return
  }
}
