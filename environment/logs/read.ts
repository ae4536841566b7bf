import { type Cluster, ClusterError } from '../../adapters/kubernetes/cluster.ts'
import type { Cursor } from './cursor.ts'
import { type LogLine, type LogTime, parseLine } from './line.ts'
import type { ContainerRun, LogSource } from './source.ts'

/** Range of the log to show for a container that existed when the command started. */
export interface LogRange {
  /** Number of lines from the end; if absent, all lines. */
  readonly tail?: number | undefined
  /** Maximum age of the lines in milliseconds; if absent, all lines. */
  readonly since?: number | undefined
}

export interface LogAccess {
  readonly cluster: Cluster
  readonly signal: AbortSignal
  readonly longestLine?: number | undefined
  /** Called when the log cannot be read at the moment. */
  troubled(source: LogSource, error: ClusterError): void
  /** Called with a message that the node sends in place of a line, for example that the log was lost. */
  word(source: LogSource, text: string): void
}

interface ReadOptions {
  readonly follow?: boolean
  readonly previous?: boolean
  /** Range to read; if absent, reading continues at the cursor. */
  readonly range?: LogRange
  /** Maximum number of lines from the end when reading resumes at the cursor. */
  readonly most?: number
}

/** Yields the lines of a container's log that were not read before. Throws the errors of the cluster. */
export async function* readContainer(
  { cluster, signal, longestLine, word }: LogAccess,
  source: LogSource,
  cursor: Cursor,
  { follow = false, previous = false, range, most }: ReadOptions,
): AsyncGenerator<LogLine> {
  if (!range) cursor.rewind()
  const from = range
    ? rangeOptions(range)
    : { ...(cursor.since && { sinceTime: cursor.since, ...rangeOptions({ tail: most }) }) }
  const { container, pod: name, namespace } = source
  let last: LogTime | undefined
  let isNew = false
  const options = {
    container,
    timestamps: true,
    follow,
    previous,
    signal,
    ...(longestLine !== undefined && { longestLine }),
    ...from,
  }
  for await (const raw of cluster.logs({ name, namespace }, options)) {
    const line = parseLine(raw)
    if (line) {
      last = line.time
      isNew = cursor.take(last)
      if (isNew) yield line
    } else if (last === undefined) {
      // Nodes discard the logs of former runs.
      if (!previous) word(source, raw)
    }
    // The rest of a line that was too long for one piece.
    else if (isNew) yield { time: last, text: raw }
  }
}

/**
 * Yields the available lines of a container's log, including the previous run. If the log cannot be read to its end at
 * the moment, calls `troubled` and ends early.
 */
export async function* readHistory(
  access: LogAccess,
  source: LogSource,
  run: ContainerRun,
  cursor: Cursor,
  range: LogRange,
): AsyncGenerator<LogLine> {
  try {
    yield* readRuns(access, source, run, cursor, range)
  } catch (error) {
    if (access.signal.aborted || !(error instanceof ClusterError) || !isPassing(error)) throw error
    access.troubled(source, error)
  }
}

async function* readRuns(
  access: LogAccess,
  source: LogSource,
  run: ContainerRun,
  cursor: Cursor,
  range: LogRange,
): AsyncGenerator<LogLine> {
  if (run.previous) {
    const left = await linesLeft(access, source, range)
    if (left !== 0)
      yield* ifThere(readContainer(access, source, cursor, { previous: true, range: { ...range, tail: left } }))
  }
  yield* ifThere(readContainer(access, source, cursor, { range }))
}

/**
 * Returns the number of lines to show from the previous run: the requested number minus the lines of the current run.
 * Undefined if no number was requested.
 */
async function linesLeft(access: LogAccess, source: LogSource, range: LogRange): Promise<number | undefined> {
  if (range.tail === undefined || range.tail === 0) return range.tail
  const { container, pod: name, namespace } = source
  let lines = 0
  const { signal, longestLine } = access
  const options = {
    ...{ container, timestamps: true, signal, ...rangeOptions(range) },
    ...(longestLine !== undefined && { longestLine }),
  }
  for await (const raw of ifThere(access.cluster.logs({ name, namespace }, options))) if (parseLine(raw)) lines++
  return Math.max(0, range.tail - lines)
}

/** Yields the lines; if the log does not exist, or no longer exists, yields nothing. */
export async function* ifThere<T>(lines: AsyncIterable<T>): AsyncGenerator<T> {
  try {
    yield* lines
  } catch (error) {
    if (!isMissing(error)) throw error
  }
}

/** Returns true if the Pod was deleted, the container has not started, or its log was discarded. */
export const isMissing = (error: unknown): boolean =>
  error instanceof ClusterError && (error.failure === 'not-found' || error.failure === 'invalid')

/** Returns true if the connection, the server or the node failed. The next attempt may succeed. */
export const isPassing = ({ failure }: ClusterError): boolean => failure === 'unreachable' || failure === 'unavailable'

function rangeOptions({ tail, since }: LogRange): { readonly tailLines?: number; readonly sinceSeconds?: number } {
  return {
    ...(tail !== undefined && { tailLines: tail }),
    ...(since !== undefined && { sinceSeconds: Math.max(1, Math.ceil(since / 1000)) }),
  }
}
