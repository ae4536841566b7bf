/** Measures how fast a stream accepts bytes, counting only times when bytes are waiting. */
export class Throughput {
  #waiting = 0
  #since = 0
  #bytes = 0
  #milliseconds = 0

  /** Records that bytes were passed to the stream. */
  gave(bytes: number, now: number): void {
    if (this.#waiting === 0) this.#since = now
    this.#waiting += bytes
  }

  /** Records that the stream has accepted bytes. */
  took(bytes: number, now: number): void {
    this.#waiting -= bytes
    this.#bytes += bytes
    this.#milliseconds += now - this.#since
    this.#since = now
    if (this.#milliseconds < REMEMBERED) return
    this.#bytes /= 2
    this.#milliseconds /= 2
  }

  /** True if the stream is so fast that compression would slow it down. False while the speed is unknown. */
  get isFast(): boolean {
    return this.#milliseconds >= KNOWN && this.#bytes / this.#milliseconds > FAST
  }
}

const REMEMBERED = 2_000
const KNOWN = 20
/**
 * Speed in bytes per millisecond above which compression is not worthwhile; deflate level 1 reaches 60,000 to 150,000.
 */
const FAST = 32_000
