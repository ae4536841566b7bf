import { ClusterError } from '../../../adapters/kubernetes/cluster.ts'

/** Milliseconds between two checks whether the caller may still see the events. */
const CHECKING = 5000

/**
 * The events of a stream while its client is connected and may see them. `check` is called again every few seconds,
 * even if nothing happens; when it throws, the stream just ends.
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

/** The cluster is unreachable for a moment, which decides nothing. */
export const isUnavailable = (error: unknown): boolean =>
  error instanceof ClusterError && (error.failure === 'unreachable' || error.failure === 'unavailable')
