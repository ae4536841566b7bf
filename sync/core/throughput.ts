/** Measures how fast a stream takes bytes, while it has any to take. */
export class Throughput {
  #waiting = 0
  #since = 0
  #bytes = 0
  #milliseconds = 0

  /** Records that the stream was given that many bytes. */
  gave(bytes: number, now: number): void {
    if (this.#waiting === 0) this.#since = now
    this.#waiting += bytes
  }

  /** Records that the stream has taken that many bytes. */
  took(bytes: number, now: number): void {
    this.#waiting -= bytes
    this.#bytes += bytes
    this.#milliseconds += now - this.#since
    this.#since = now
    if (this.#milliseconds < REMEMBERED) return
    this.#bytes /= 2
    this.#milliseconds /= 2
  }

  /** True if the stream is so fast that compressing would slow it down. False at first, while the speed is unknown. */
  get isFast(): boolean {
    return this.#milliseconds >= KNOWN && this.#bytes / this.#milliseconds > FAST
  }
}

const REMEMBERED = 2_000
const KNOWN = 20
/** Bytes in a millisecond; level 1 of deflate makes 60 to 150 thousand. */
const FAST = 32_000
