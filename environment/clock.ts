/** Source of time, passed in so that tests can control it. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number
  /** Runs a function repeatedly; call the result to stop it. */
  every(milliseconds: number, run: () => void): () => void
}
