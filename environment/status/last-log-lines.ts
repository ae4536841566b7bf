import { type Cluster, ClusterError } from '../../adapters/kubernetes/cluster.ts'
import { parseLine } from '../logs/line.ts'

/** Lines of a log that are shown. */
const LOG_LINES = 20
/** Characters of one of these lines, and of all that is read for them: a program can write a log as a single line. */
const LONGEST_LINE = 4096
const MOST_READ = 1024 * 1024
/** Milliseconds for getting a log: the error it belongs to must not wait for it. */
export const LOG_TIMEOUT = 5000

/**
 * The kubelet's answers in place of a log: the container was cleaned up, or never created. They are
 * not the program's output.
 */
const KUBELET =
  /^(?:unable to retrieve container logs for |failed to try resolving symlinks in path |container "[^"]+" in pod "[^"]+" is (?:waiting to start|not available)|previous terminated container |rpc error: code = |failed to (?:get|find|open) (?:container|log)|Error from server)/

/** A container whose log is read. */
export interface LoggedContainer {
  readonly pod: string
  readonly namespace: string
  readonly container: string
}

/**
 * Returns the end of a container's log; with `previous` that of its previous run, or of the running one if that log no
 * longer exists. Undefined if the Pod does not exist.
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
      // A piece without a time stamp after one that has it is the rest of an overlong line.
      if ((line || !isStamped) && !KUBELET.test(text)) found.push(shortened(text))
      read += piece.length
      if (found.length >= LOG_LINES || read > MOST_READ) break
    }
  } catch (error) {
    if (error instanceof ClusterError && error.failure === 'not-found') return undefined
    // There may be none; what is known without it is reported.
  }
  if (found.length > 0) return found
  return previous ? lastLogLines(cluster, of, false) : []
}

/** Copies the beginning of a line: a part of a text would keep the whole of it in memory. */
const shortened = (line: string): string =>
  line.length > LONGEST_LINE ? `${Buffer.from(line.slice(0, LONGEST_LINE)).toString()}…` : Buffer.from(line).toString()
