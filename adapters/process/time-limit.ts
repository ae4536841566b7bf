/** Longest time that timers accept, in milliseconds. A timer with a longer time fires at once. */
export const LONGEST_TIMER = 2 ** 31 - 1

/**
 * Returns a signal that is aborted after a time, or together with one of the other signals. `AbortSignal.any` with an
 * `AbortSignal.timeout` is not equivalent: if nothing else refers to the timeout signal, Node.js 20 garbage-collects
 * it, and the time limit never fires.
 */
export function withTimeLimit(milliseconds: number, ...signals: readonly AbortSignal[]): AbortSignal {
  const limit = new AbortController()
  const reason = () => new DOMException('The operation was aborted due to timeout', 'TimeoutError')
  // The timer refers to the controller, and does not keep the process alive.
  setTimeout(() => limit.abort(reason()), Math.min(milliseconds, LONGEST_TIMER)).unref()
  return AbortSignal.any([limit.signal, ...signals])
}
