import type { Slots } from '../../adapters/http/slots.ts'
import { ClusterError } from '../../adapters/kubernetes/cluster.ts'
import type { Clock } from '../clock.ts'
import { Cursor } from './cursor.ts'
import type { LogLine } from './line.ts'
import { ifThere, isMissing, isPassing, type LogAccess, type LogRange, readContainer } from './read.ts'
import { type ContainerRun, type ExitStatus, isFinished, type LogSource, runOf } from './source.ts'
import type { WatchedPod } from './watched-pod.ts'

export interface Following extends LogAccess {
  readonly clock: Clock
  /** Limits the number of logs that are open at once. */
  readonly slots: Slots
  print(source: LogSource, line: LogLine): Promise<void> | void
  /** Called when a run of a container has ended and its Pod still exists. */
  ended(source: LogSource, exit: ExitStatus): void
}

/** Position in a container's log at which following begins. */
export interface LogPosition {
  readonly cursor: Cursor
  /** Range to show as long as no line was read; absent for containers that started after the command. */
  readonly range?: LogRange | undefined
  /** Run whose log was read last, up to the cursor; absent if no log was read. */
  readonly run?: ContainerRun | undefined
}

/**
 * Maximum number of lines to read again when following begins after the history was read. The server can only start at
 * a full second, so some lines arrive twice, and a program may write lines faster than they can be read. Lines beyond
 * the maximum are skipped.
 */
const OVERLAP = 10_000
/**
 * First and maximum delay, in milliseconds, before the log of a running container is opened again after the connection
 * has ended.
 */
const PAUSE = [250, 5000] as const
/** Milliseconds that a connection must have lasted for the delay to start over with its first value. */
const LASTING = 10_000

/**
 * Prints the log of a container from a position on, across its restarts, until its Pod has been deleted or has
 * finished. The watch of the Pod reports when the log can be read. Throws permanent errors, or the abort reason if the
 * signal is aborted.
 */
export async function followContainer(
  following: Following,
  pod: WatchedPod,
  source: LogSource,
  { cursor, range, run: readBefore }: LogPosition = { cursor: new Cursor() },
): Promise<void> {
  const { signal, clock, slots } = following
  /**
   * ID of the run that is being read (`last`), and of the last run that was read to its end (`done`). Undefined until
   * the container has run.
   */
  let last = readBefore?.id
  let done = readBefore && !readBefore.isRunning ? last : undefined
  let opened: number | undefined
  let failures = 0

  const print = async (lines: AsyncIterable<LogLine>) => {
    for await (const line of lines) await following.print(source, line)
  }
  const leave = (exit: ExitStatus | undefined) => {
    if (exit && !pod.isGone && pod.object.metadata.deletionTimestamp === undefined) following.ended(source, exit)
  }
  const readRun = async (run: ContainerRun): Promise<void> => {
    // Reads the end of the previous run, including a run that started and ended in between.
    if (last !== run.id && run.previous) {
      if (last === undefined || last !== done) leave(run.previous)
      await print(ifThere(readContainer(following, source, cursor, { previous: true })))
    }
    // A run that starts while logs are followed is shown from its beginning.
    const from = cursor.isEmpty && range && last === run.id ? { range: rangeNow(range) } : {}
    last = run.id
    if (!run.isRunning) {
      await print(ifThere(readContainer(following, source, cursor, from)))
      done = run.id
      leave(run.exit)
      return
    }
    const most = opened === undefined ? OVERLAP : undefined
    opened ??= clock.now()
    const options = { ...from, follow: true, ...(most && { most }) }
    await slots.run(signal, () => print(readContainer(following, source, cursor, options)))
  }

  /**
   * Returns the range to read now. If the connection broke before the container wrote a line, the range covers
   * everything since the log was first opened.
   */
  const rangeNow = (range: LogRange): LogRange => (opened === undefined ? range : { since: clock.now() - opened })

  for (;;) {
    const run = runOf(pod.object, source.container)
    if (!run || run.id === done) {
      if (pod.isGone || isFinished(pod.object)) return
      await pod.change(signal)
      continue
    }
    const began = clock.now()
    let isRead = false
    try {
      await readRun(run)
      isRead = true
    } catch (error) {
      if (signal.aborted || !(error instanceof ClusterError)) throw error
      if (!isPassing(error) && !isMissing(error)) throw error
      if (isPassing(error)) following.troubled(source, error)
      if (error.failure === 'not-found' && !(await isThere(following, pod))) return
    }
    if (pod.isGone) return
    const now = runOf(pod.object, source.container)
    if (isRead && (now?.id !== run.id || !now.isRunning)) continue
    // The cluster does not know yet that the run has ended, or the connection broke.
    failures = clock.now() - began > LASTING ? 1 : failures + 1
    const milliseconds = Math.min(PAUSE[1], PAUSE[0] * 2 ** (failures - 1))
    await pod.change(signal, { clock, milliseconds })
  }
}

/** Asks the cluster whether a Pod still exists, because the watch possibly has not reported the deletion yet. */
async function isThere({ cluster, signal }: Following, { object: { apiVersion, kind, metadata } }: WatchedPod) {
  const { name, namespace, uid } = metadata
  const live = await cluster.get({ apiVersion, kind, name, namespace }, { signal })
  return live?.metadata.uid === uid
}
