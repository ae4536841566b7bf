import type { Session } from '../../project/session.ts'
import type { Output } from '../terminal/io.ts'

/**
 * Runs `work`, which prints until Ctrl-C. `work` calls `closed` when the reader has closed the output (`| head`). That
 * also aborts the signal of the session that `work` receives, and is a normal end. Other errors of the output are
 * reported where they occur (start.ts).
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

/**
 * Calls `closed` with the error if the text that was written to an output cannot be delivered, for example because the
 * reader has closed the output.
 */
export function watchOutput({ flushed }: Output, closed: (reason: unknown) => void): void {
  void flushed?.().catch(closed)
}
