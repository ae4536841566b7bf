/** The number of immediate attempts, and the rate at which further attempts become available. */
export interface LimiterOptions {
  readonly burst: number
  /** Milliseconds until one more attempt becomes available. */
  readonly every: number
  /** Maximum number of keys that are remembered. */
  readonly keys: number
}

/**
 * Limits the rate of attempts for each key, such as an address. The memory is bounded: if there are too many keys, the
 * least recently used keys are forgotten.
 */
export class Limiter {
  readonly #options: LimiterOptions
  /**
   * Time in milliseconds at which all attempts of a key are available again, by key. The least recently used key is
   * first.
   */
  readonly #full = new Map<string, number>()

  constructor(options: LimiterOptions) {
    this.#options = options
  }

  /**
   * Uses up one attempt of a key and returns 0. If no attempt is left, returns the time in milliseconds until the next
   * one is available. `now` is in milliseconds, too.
   */
  take(key: string, now: number): number {
    const { burst, every, keys } = this.#options
    const full = Math.max(this.#full.get(key) ?? 0, now) + every
    const wait = full - now - burst * every
    if (wait > 0) return wait
    this.#full.delete(key)
    this.#full.set(key, full)
    for (const old of this.#full.keys()) {
      if (this.#full.size <= keys) break
      this.#full.delete(old)
    }
    return 0
  }

  /** Gives back an attempt that does not count after all. */
  giveBack(key: string): void {
    const full = this.#full.get(key)
    if (full !== undefined) this.#full.set(key, full - this.#options.every)
  }

  get size(): number {
    return this.#full.size
  }
}

/**
 * Returns the part of an IP address that identifies one customer of a network provider: the entire IPv4 address, or the
 * /64 network of an IPv6 address.
 */
export function addressKey(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '').toLowerCase()
  if (!plain.includes(':')) return plain
  const [before = '', after] = plain.split('::')
  const groups = before.split(':').filter(one => one !== '')
  const rest = after === undefined ? [] : after.split(':').filter(one => one !== '')
  const zeros = after === undefined ? 0 : Math.max(0, 8 - groups.length - rest.length)
  return [...groups, ...Array.from({ length: zeros }, () => '0'), ...rest]
    .slice(0, 4)
    .map(one => one.replace(/^0+(?=.)/, ''))
    .join(':')
}
