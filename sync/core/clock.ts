/** Time, so that tests can have one of their own. */
export interface SyncClock {
  now(): number
  /** Calls once, after that many milliseconds; gives what takes it back. 0: when what is waiting has had its turn. */
  after(milliseconds: number, call: () => void): () => void
}

/** Lets others have a turn. */
export const turn = (clock: SyncClock): Promise<void> => new Promise(resolve => void clock.after(0, resolve))
