/** Source of time, passed in so that tests can control it. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number
  /** Runs a function repeatedly, at an interval in milliseconds. Returns a function that stops the repetition. */
  every(milliseconds: number, run: () => void): () => void
}
