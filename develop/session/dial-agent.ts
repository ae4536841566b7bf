import { once } from 'node:events'
import type { Duplex } from 'node:stream'
import { pause } from '../../adapters/http/back-off.ts'
import { ClusterError } from '../../adapters/kubernetes/cluster.ts'

/** Initial and maximum delay between two attempts, in milliseconds. */
const FIRST_PAUSE = 50
const LONGEST_PAUSE = 1000
/** Initial and maximum time to wait for the agent's first bytes on an open connection, in milliseconds. */
const FIRST_SILENCE = 2000
const LONGEST_SILENCE = 16_000

/**
 * Connects to an agent that is about to start, and retries until the agent answers; the agent sends the first bytes.
 * `connect` opens a connection to the agent's port. Such a connection may be refused, or may stay silent without
 * reaching the agent. A silent connection is replaced, at first after a short time. Throws permanent errors and the
 * signal's abort reason.
 */
export async function dialAgent(
  connect: () => Promise<Duplex>,
  signal: AbortSignal,
  firstSilence = FIRST_SILENCE,
): Promise<Duplex> {
  let silence = firstSilence
  for (let wait = FIRST_PAUSE; ; wait = Math.min(wait * 1.5, LONGEST_PAUSE)) {
    let stream: Duplex | undefined
    try {
      stream = await connect()
      signal.throwIfAborted()
      // The stream may have failed before a listener is attached.
      if (!stream.destroyed && !(await speaks(stream, silence, signal)))
        silence = Math.min(2 * silence, LONGEST_SILENCE)
      if (stream.readableLength > 0) return stream
      throw stream.errored ?? new ClusterError('unavailable', 'the agent has said nothing')
    } catch (error) {
      stream?.destroy()
      if (signal.aborted || !passes(error)) throw error
    }
    await pause(wait, signal)
  }
}

/** Returns true if data arrives on a connection, or the connection ends, within a number of milliseconds. */
async function speaks(stream: Duplex, milliseconds: number, signal: AbortSignal): Promise<boolean> {
  const late = AbortSignal.timeout(milliseconds)
  const options = { signal: AbortSignal.any([signal, late]) }
  try {
    // A stream that ended before does not become readable.
    await Promise.race([once(stream, 'readable', options), once(stream, 'end', options)])
    return true
  } catch (error) {
    if (!late.aborted) throw error
    signal.throwIfAborted()
    return false
  }
}

/**
 * True for an error that means that nothing is listening yet, or that the node is not ready. Excludes the `not-found`
 * error for a deleted Pod, which has a status.
 */
const passes = (error: unknown): boolean =>
  error instanceof ClusterError &&
  (error.failure === 'unavailable' || (error.failure === 'not-found' && error.status === undefined))
