import type { EventOf, StreamName } from '../../api/routes.ts'
import type { CallInput } from '../../client/client.ts'
import { platform } from './client.ts'
import { type Failure, isFinal, toProblem } from './problem.ts'
import { isExpired, isOffline, noticeOf } from './session.ts'

interface Listener<T> {
  /**
   * Called with each event, in the order in which the events were sent. After an interruption, the stream resumes after
   * the last id.
   */
  onEvent(event: T): void
  /** Called each time the stream ends. */
  onEnd?(): void
  /** Called with the reason if the stream is refused and not opened again. */
  onRefused?(problem: Failure): void
  /** Returns true if all events have arrived; otherwise a stream that ends is opened again. */
  isComplete?(): boolean
}

/**
 * Delay before a stream that broke off is opened again, in milliseconds: the initial delay, which is doubled after each
 * attempt, and the maximum.
 */
const AGAIN = 1_000
const LONGEST_WAIT = 15_000

/**
 * Reads a stream until the signal is aborted or all events have arrived. Resumes after the last id if the stream breaks
 * off, or if the user logs in again after the session has ended. Closes it while the page is hidden, because browsers
 * limit the number of connections to one host.
 */
export async function follow<N extends StreamName>(
  name: N,
  input: CallInput<N>,
  listener: Listener<EventOf<N>>,
  signal: AbortSignal,
): Promise<void> {
  let after: string | undefined
  let wait = AGAIN
  while (!signal.aborted) {
    await seen(signal)
    const open = new AbortController()
    const hidden = () => document.visibilityState === 'hidden' && open.abort()
    document.addEventListener('visibilitychange', hidden)
    try {
      const events = platform.follow(name, input, {
        signal: AbortSignal.any([signal, open.signal]),
        ...(after !== undefined && { after }),
      })
      for await (const { id, data } of events) {
        if (id !== undefined) after = id
        wait = AGAIN
        isOffline.value = false
        listener.onEvent(data)
      }
      if (listener.isComplete?.()) return
    } catch (error) {
      if (signal.aborted) return
      if (!open.signal.aborted) {
        const problem = toProblem(error)
        noticeOf(problem)
        if (problem.kind === 'login' && isExpired.peek()) await loggedIn(signal)
        else if (isFinal(error)) return listener.onRefused?.(problem)
      }
    } finally {
      document.removeEventListener('visibilitychange', hidden)
      listener.onEnd?.()
    }
    if (open.signal.aborted) continue
    await pause(wait, signal)
    wait = Math.min(2 * wait, LONGEST_WAIT)
  }
}

/** Waits until the user, whose session has ended, has logged in again. */
const loggedIn = (signal: AbortSignal): Promise<void> =>
  new Promise(resolve => {
    let leave = () => {}
    const look = () => {
      if (isExpired.peek() && !signal.aborted) return
      leave()
      signal.removeEventListener('abort', look)
      resolve()
    }
    leave = isExpired.subscribe(look)
    signal.addEventListener('abort', look)
  })

/** Waits until the page is visible. */
const seen = (signal: AbortSignal): Promise<void> =>
  new Promise(resolve => {
    const look = () => {
      if (document.visibilityState === 'hidden' && !signal.aborted) return
      document.removeEventListener('visibilitychange', look)
      signal.removeEventListener('abort', look)
      resolve()
    }
    document.addEventListener('visibilitychange', look)
    signal.addEventListener('abort', look)
    look()
  })

const pause = (milliseconds: number, signal: AbortSignal): Promise<void> =>
  new Promise(resolve => {
    const end = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, milliseconds)
    signal.addEventListener('abort', end)
    if (signal.aborted) end()
  })
