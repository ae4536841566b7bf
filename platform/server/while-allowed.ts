import { ClusterError } from '../../adapters/kubernetes/cluster.ts'

/** Milliseconds between two questions whether somebody may still look. */
const CHECKING = 5000

/**
 * The events of a stream for as long as its client is there and may see them. `check` is asked again every
 * few seconds, also while nothing happens; when it throws, the stream ends without a word.
 */
export async function* whileAllowed<T>(
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
      if (!isAway(error)) over.abort()
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

/** The cluster is away for a moment, which is no answer. */
export const isAway = (error: unknown): boolean =>
  error instanceof ClusterError && (error.failure === 'unreachable' || error.failure === 'unavailable')
