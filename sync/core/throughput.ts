/** How fast a stream takes what it gets, while it has something to take. */
export class Throughput {
  #waiting = 0
  #since = 0
  #bytes = 0
  #milliseconds = 0

  /** The stream has got that many bytes. */
  gave(bytes: number, now: number): void {
    if (this.#waiting === 0) this.#since = now
    this.#waiting += bytes
  }

  /** It has taken them. */
  took(bytes: number, now: number): void {
    this.#waiting -= bytes
    this.#bytes += bytes
    this.#milliseconds += now - this.#since
    this.#since = now
    if (this.#milliseconds < REMEMBERED) return
    this.#bytes /= 2
    this.#milliseconds /= 2
  }

  /** So fast that compressing would hold it up. Nobody knows at first. */
  get isFast(): boolean {
    return this.#milliseconds >= KNOWN && this.#bytes / this.#milliseconds > FAST
  }
}

const REMEMBERED = 2_000
const KNOWN = 20
/** Bytes in a millisecond; level 1 of deflate makes 60 to 150 thousand. */
const FAST = 32_000
