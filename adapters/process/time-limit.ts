/**
 * A signal that is aborted after a time, or with one of the others. `AbortSignal.any` with an
 * `AbortSignal.timeout` is not the same: if nothing else refers to the latter, Node.js 20 collects
 * it as garbage, and the time limit never comes.
 */
export function withTimeLimit(milliseconds: number, ...signals: readonly AbortSignal[]): AbortSignal {
  const limit = new AbortController()
  const reason = () => new DOMException('The operation was aborted due to timeout', 'TimeoutError')
  // The timer refers to the controller, and keeps no process alive.
  setTimeout(() => limit.abort(reason()), milliseconds).unref()
  return AbortSignal.any([limit.signal, ...signals])
}
