import { type Cluster, ClusterError } from '../../adapters/kubernetes/cluster.ts'
import { parseLine } from '../logs/line.ts'

/** Maximum number of log lines shown. */
const LOG_LINES = 20
/**
 * Maximum length of a log line, and maximum length of all text that is read for the lines, in characters. A program may
 * write its full log as a single line.
 */
const LONGEST_LINE = 4096
const MOST_READ = 1024 * 1024
/** Timeout for reading a log, in milliseconds: the report of an error must not be delayed much by its log. */
export const LOG_TIMEOUT = 5000

/**
 * Messages of the kubelet in place of a log: the container was cleaned up, or never created. They are not the program's
 * output.
 */
const KUBELET =
  /^(?:unable to retrieve container logs for |failed to try resolving symlinks in path |container "[^"]+" in pod "[^"]+" is (?:waiting to start|not available)|previous terminated container |rpc error: code = |failed to (?:get|find|open) (?:container|log)|Error from server)/

/** Container whose log is read. */
export interface LoggedContainer {
  readonly pod: string
  readonly namespace: string
  readonly container: string
}

/**
 * Returns the last lines of a container's log. With `previous`, returns the last lines of the previous run or, if the
 * log of that run no longer exists, of the current run. Undefined if the Pod does not exist.
 */
export async function lastLogLines(
  cluster: Cluster,
  of: LoggedContainer,
  previous: boolean,
): Promise<readonly string[] | undefined> {
  const found: string[] = []
  const options = {
    ...{ container: of.container, previous, tailLines: LOG_LINES, longestLine: LONGEST_LINE, timestamps: true },
    signal: AbortSignal.timeout(LOG_TIMEOUT),
  }
  let read = 0
  let isStamped = false
  try {
    for await (const piece of cluster.logs({ name: of.pod, namespace: of.namespace }, options)) {
      const line = parseLine(piece)
      isStamped ||= line !== undefined
      const text = line?.text ?? piece
      // A piece without a timestamp after a piece with one is the rest of a line that was too long.
      if ((line || !isStamped) && !KUBELET.test(text)) found.push(shortened(text))
      read += piece.length
      if (found.length >= LOG_LINES || read > MOST_READ) break
    }
  } catch (error) {
    if (error instanceof ClusterError && error.failure === 'not-found') return undefined
    // The container may have no log; other facts are reported without it.
  }
  if (found.length > 0) return found
  return previous ? lastLogLines(cluster, of, false) : []
}

/** Copies the beginning of a line, because a substring would keep the full line in memory. */
const shortened = (line: string): string =>
  line.length > LONGEST_LINE ? `${Buffer.from(line.slice(0, LONGEST_LINE)).toString()}…` : Buffer.from(line).toString()
