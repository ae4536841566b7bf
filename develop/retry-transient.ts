import { backOff, pause } from '../adapters/http/back-off.ts'
import { ClusterError } from '../adapters/kubernetes/cluster.ts'
import type { Credentials } from './session/credentials.ts'

/** Initial delay between two attempts (approximate), and maximum delay, in milliseconds. */
const FIRST_PAUSE = 500
const LONGEST_PAUSE = 5000
/**
 * Maximum delay while credentials are refused, in milliseconds: a credential plugin may open a browser at each attempt.
 */
const LONGEST_REFUSED = 15_000

/** True for cluster failures that may be resolved at the next attempt. */
export const isTransient = (error: unknown): error is ClusterError =>
  error instanceof ClusterError && ['unreachable', 'unavailable', 'unauthorized'].includes(error.failure)

/**
 * True for failures of a request to a Pod that are transient. A Pod that does not exist counts as transient, because
 * another Pod may replace it.
 */
export const isTransientForPod = (error: unknown): error is ClusterError =>
  isTransient(error) || (error instanceof ClusterError && error.failure === 'not-found')

/**
 * Runs work that follows the cluster for the duration of a session. Retries without a limit if the cluster cannot be
 * reached or refuses the credentials. The work calls `heard` whenever the cluster has answered. Throws permanent errors
 * and the signal's abort reason.
 */
export async function retryTransient(
  work: (heard: () => void) => Promise<void>,
  credentials: Credentials,
  signal: AbortSignal,
): Promise<void> {
  let failures = 0
  const heard = () => {
    failures = 0
    credentials.accepted()
  }
  for (;;) {
    try {
      return await work(heard)
    } catch (error) {
      signal.throwIfAborted()
      if (!isTransient(error)) throw error
      const isRefused = error.failure === 'unauthorized'
      if (isRefused) credentials.refused(error)
      failures++
      await pause(backOff(failures, FIRST_PAUSE, isRefused ? LONGEST_REFUSED : LONGEST_PAUSE), signal)
    }
  }
}
