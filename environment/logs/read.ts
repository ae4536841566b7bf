import { type Cluster, ClusterError } from '../../adapters/kubernetes/cluster.ts'
import type { Cursor } from './cursor.ts'
import { type LogLine, type LogTime, parseLine } from './line.ts'
import type { ContainerRun, LogSource } from './source.ts'

/** Range of the log to show for a container that existed before. */
export interface LogRange {
  /** Lines from its end; absent: all. */
  readonly tail?: number | undefined
  /** Milliseconds; absent: all. */
  readonly since?: number | undefined
}

export interface LogAccess {
  readonly cluster: Cluster
  readonly signal: AbortSignal
  readonly longestLine?: number | undefined
  /** The log cannot be read now. */
  troubled(source: LogSource, error: ClusterError): void
  /** Something that the node says in place of a line: that it has lost the log, say. */
  word(source: LogSource, text: string): void
}

interface ReadOptions {
  readonly follow?: boolean
  readonly previous?: boolean
  /** Absent: from where the cursor is. */
  readonly range?: LogRange
  /** Maximum number of lines from the end when reading resumes at the cursor. */
  readonly most?: number
}

/** The lines of a container's log that were not read before. Throws what the cluster throws. */
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
      // Nodes throw logs of former runs away.
      if (!previous) word(source, raw)
    }
    // The rest of a line too long to come in one piece.
    else if (isNew) yield { time: last, text: raw }
  }
}

/**
 * The available log of a container, across its last restart; ends where it cannot be read further.
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

/** Returns the number of wanted lines from the previous run: those that the current run does not have. */
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

/** Yields no lines for a log that does not exist, or no longer exists. */
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

/** The connection, the server or the node fails, and may be well a moment later. */
export const isPassing = ({ failure }: ClusterError): boolean => failure === 'unreachable' || failure === 'unavailable'

function rangeOptions({ tail, since }: LogRange): { readonly tailLines?: number; readonly sinceSeconds?: number } {
  return {
    ...(tail !== undefined && { tailLines: tail }),
    ...(since !== undefined && { sinceSeconds: Math.max(1, Math.ceil(since / 1000)) }),
  }
}
