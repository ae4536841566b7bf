/** Allows something so many times within a span of time. */
export class RateLimiter {
  readonly #times: number
  readonly #span: number
  #recent: readonly number[] = []

  /** `span` is in milliseconds. */
  constructor(times: number, span: number) {
    this.#times = times
    this.#span = span
  }

  /** True unless it was done so many times already. */
  may(now: number): boolean {
    this.#recent = this.#recent.filter(at => now - at < this.#span)
    return this.#recent.length < this.#times
  }

  /** Records one occurrence. */
  done(now: number): void {
    this.#recent = [...this.#recent, now]
  }
}
