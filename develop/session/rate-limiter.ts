/** Limits how often an action may occur within a period. */
export class RateLimiter {
  readonly #times: number
  readonly #span: number
  #recent: readonly number[] = []

  /** Creates a limiter for `times` actions per `span` milliseconds. */
  constructor(times: number, span: number) {
    this.#times = times
    this.#span = span
  }

  /** Returns true if the action is allowed now. */
  may(now: number): boolean {
    this.#recent = this.#recent.filter(at => now - at < this.#span)
    return this.#recent.length < this.#times
  }

  /** Records that the action was done. */
  done(now: number): void {
    this.#recent = [...this.#recent, now]
  }
}
