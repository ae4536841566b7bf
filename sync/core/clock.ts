/** Time source, which tests can replace. */
export interface SyncClock {
  now(): number
  /**
   * Calls a function once after a delay in milliseconds (0: after the work that is already waiting). Returns a function
   * that cancels the call.
   */
  after(milliseconds: number, call: () => void): () => void
}

/** Yields to other pending work. */
export const turn = (clock: SyncClock): Promise<void> => new Promise(resolve => void clock.after(0, resolve))
