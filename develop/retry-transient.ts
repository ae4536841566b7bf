import { backOff, pause } from '../adapters/http/back-off.ts'
import { ClusterError } from '../adapters/kubernetes/cluster.ts'
import type { Credentials } from './session/credentials.ts'

/** Milliseconds between two attempts: about the first, and the longest. */
const FIRST_PAUSE = 500
const LONGEST_PAUSE = 5000
/** Longest pause in milliseconds while credentials are refused: a credential plugin may open a browser each time. */
const LONGEST_REFUSED = 15_000

/** True for failures of the cluster that may be over at the next attempt. */
export const isTransient = (error: unknown): error is ClusterError =>
  error instanceof ClusterError && ['unreachable', 'unavailable', 'unauthorized'].includes(error.failure)

/**
 * True for transient failures of a request to a Pod: also if the Pod does not exist, since another one may replace it.
 */
export const isTransientForPod = (error: unknown): error is ClusterError =>
  isTransient(error) || (error instanceof ClusterError && error.failure === 'not-found')

/**
 * Does work that follows the cluster as long as a session lasts: again when the cluster cannot be
 * reached, or refuses the credentials, however long that takes. The work calls `heard` when the
 * cluster has answered. Throws what does not pass by itself, and the reason of the signal.
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
