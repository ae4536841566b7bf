import { setMaxListeners } from 'node:events'

/**
 * Returns the value of the promise; rejects with the signal's abort reason as soon as the signal is aborted. The
 * promise continues for other callers that share it.
 */
export async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise
  signal.throwIfAborted()
  // All calls of a command share its signal, so many listeners are not a leak.
  setMaxListeners(0, signal)
  let forget = () => {}
  const aborted = new Promise<never>((_, reject) => {
    const listener = () => reject(signal.reason)
    signal.addEventListener('abort', listener, { once: true })
    forget = () => signal.removeEventListener('abort', listener)
  })
  try {
    return await Promise.race([promise, aborted])
  } finally {
    forget()
  }
}
