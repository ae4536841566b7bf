import type { Session } from '../../project/session.ts'
import type { Output } from '../terminal/io.ts'

/**
 * Runs work that prints until Ctrl-C. The signal of its session is also aborted once `closed` is called because the
 * reader has closed the output (`| head`), which is a normal end. Other errors of the output are reported where they
 * occur (start.ts).
 */
export async function untilOutputCloses(
  session: Session,
  work: (own: Session, closed: (reason: unknown) => void) => Promise<number>,
): Promise<number> {
  const closed = new AbortController()
  const signal = AbortSignal.any([session.signal, closed.signal])
  try {
    return await work({ ...session, signal }, reason => closed.abort(reason))
  } catch (error) {
    if (closed.signal.aborted && !session.signal.aborted) return 0
    throw error
  }
}

/** Calls `closed` if an output does not take the text that was written to it. */
export function watchOutput({ flushed }: Output, closed: (reason: unknown) => void): void {
  void flushed?.().catch(closed)
}
