/** Attempts that are allowed at once, and how fast further ones come back. */
export interface LimiterOptions {
  readonly burst: number
  /** Milliseconds for one more. */
  readonly every: number
  /** Keys that are remembered at most. */
  readonly keys: number
}

/**
 * Counts attempts by a key, such as an address. Its memory is bounded: of many keys, those that were used
 * longest ago are forgotten first, so that somebody with many addresses forgets their own ones.
 */
export class Limiter {
  readonly #options: LimiterOptions
  /** When all attempts of a key are back, in the order of use. */
  readonly #full = new Map<string, number>()

  constructor(options: LimiterOptions) {
    this.#options = options
  }

  /** Takes an attempt; gives the milliseconds to wait when there is none left. */
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

  /** Gives an attempt back that does not count after all. */
  giveBack(key: string): void {
    const full = this.#full.get(key)
    if (full !== undefined) this.#full.set(key, full - this.#options.every)
  }

  get size(): number {
    return this.#full.size
  }
}

/** The part of an address that one person has: of IPv6 they have a whole network of 64 bits. */
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
