import { ClusterError } from '../../../adapters/kubernetes/cluster.ts'

/** Interval between two checks that the caller may still see the events, in milliseconds. */
const CHECKING = 5000

/**
 * Yields the events of a stream while its client is connected and may see the events. `check` is called every few
 * seconds, even if there are no events. If `check` throws, the stream ends without an error. The stream continues if
 * `check` throws only because the cluster is temporarily unreachable.
 */
export async function* authorizedStream<T>(
  events: (signal: AbortSignal) => AsyncIterable<T>,
  gone: AbortSignal,
  check: () => Promise<unknown>,
): AsyncGenerator<T> {
  const over = new AbortController()
  const open = AbortSignal.any([gone, over.signal])
  let isAsking = false
  const ask = async () => {
    if (isAsking) return
    isAsking = true
    await check().catch(error => {
      if (!isUnavailable(error)) over.abort()
    })
    isAsking = false
  }
  const asking = setInterval(() => void ask(), CHECKING).unref()
  try {
    for await (const event of events(open)) {
      if (open.aborted) return
      yield event
    }
  } catch (error) {
    if (!open.aborted) throw error
  } finally {
    clearInterval(asking)
  }
}

/** Returns true if the cluster is temporarily unreachable, which says nothing about the caller's rights. */
export const isUnavailable = (error: unknown): boolean =>
  error instanceof ClusterError && (error.failure === 'unreachable' || error.failure === 'unavailable')
