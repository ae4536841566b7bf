/** Time source, so that tests can use their own. */
export interface SyncClock {
  now(): number
  /**
   * Calls once, after that many milliseconds; returns the function that cancels the call. 0: after the work that is
   * waiting.
   */
  after(milliseconds: number, call: () => void): () => void
}

/** Lets other work have a turn. */
export const turn = (clock: SyncClock): Promise<void> => new Promise(resolve => void clock.after(0, resolve))
