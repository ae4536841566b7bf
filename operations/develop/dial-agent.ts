import { once } from 'node:events'
import type { Duplex } from 'node:stream'
import { pause } from '../../adapters/http/back-off.ts'
import { ClusterError } from '../../adapters/kubernetes/cluster.ts'

/** Milliseconds between two attempts: the first, and the longest. */
const FIRST_PAUSE = 50
const LONGEST_PAUSE = 1000

/**
 * Connects to an agent that is about to start, again and again until it answers: it speaks first.
 * `connect` opens a connection to its port, which may refuse. Throws what does not pass by itself,
 * and the reason of the signal.
 */
export async function dialAgent(connect: () => Promise<Duplex>, signal: AbortSignal): Promise<Duplex> {
  for (let wait = FIRST_PAUSE; ; wait = Math.min(wait * 1.5, LONGEST_PAUSE)) {
    let stream: Duplex | undefined
    try {
      stream = await connect()
      signal.throwIfAborted()
      // It may have been refused before anybody listened.
      if (!stream.destroyed) await once(stream, 'readable', { signal })
      if (stream.readableLength > 0) return stream
      throw stream.errored ?? new ClusterError('unavailable', 'the agent has closed the connection')
    } catch (error) {
      stream?.destroy()
      if (signal.aborted || !passes(error)) throw error
    }
    await pause(wait, signal)
  }
}

/** Nothing listens yet, or the node is not ready for it; a Pod that has gone has a status. */
const passes = (error: unknown): boolean =>
  error instanceof ClusterError &&
  (error.failure === 'unavailable' || (error.failure === 'not-found' && error.status === undefined))
