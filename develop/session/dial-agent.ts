import { once } from 'node:events'
import type { Duplex } from 'node:stream'
import { pause } from '../../adapters/http/back-off.ts'
import { ClusterError } from '../../adapters/kubernetes/cluster.ts'

/** Milliseconds between two attempts: the first, and the longest. */
const FIRST_PAUSE = 50
const LONGEST_PAUSE = 1000
/** Milliseconds for the agent's first words on a connection that stands: in the first attempt, and the most. */
const FIRST_SILENCE = 2000
const LONGEST_SILENCE = 16_000

/**
 * Connects to an agent that is about to start, again and again until it answers: it speaks first.
 * `connect` opens a connection to its port, which may refuse, or lead nowhere: one that says nothing
 * is replaced, at first soon. Throws what does not pass by itself, and the reason of the signal.
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

/** True if something has come over a connection within some milliseconds, or its end has. */
async function speaks(stream: Duplex, milliseconds: number, signal: AbortSignal): Promise<boolean> {
  const late = AbortSignal.timeout(milliseconds)
  try {
    await once(stream, 'readable', { signal: AbortSignal.any([signal, late]) })
    return true
  } catch (error) {
    if (!late.aborted) throw error
    signal.throwIfAborted()
    return false
  }
}

/** True if nothing listens yet, or the node is not ready for it; the error about a deleted Pod has a status. */
const passes = (error: unknown): boolean =>
  error instanceof ClusterError &&
  (error.failure === 'unavailable' || (error.failure === 'not-found' && error.status === undefined))
