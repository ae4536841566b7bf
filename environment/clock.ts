/** The time, handed in so that tests can make their own. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number
  /** Runs something again and again; call the result to stop it. */
  every(milliseconds: number, run: () => void): () => void
}
