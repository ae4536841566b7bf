/** A stream of choices that a seed determines, so that a project that differs can be made again. */
export class Random {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** Returns a number from 0 up to, but not including, 1 (the generator known as mulberry32). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = this.#state
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  /** A whole number from `low` to `high`, both included. */
  int(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1))
  }

  chance(probability: number): boolean {
    return this.next() < probability
  }

  pick<T>(values: readonly T[]): T {
    // A list of choices is never empty.
    return values[Math.floor(this.next() * values.length)]!
  }

  /** Returns a random subset of the values, in their order; `probability` is the chance of each. */
  some<T>(values: readonly T[], probability: number): readonly T[] {
    return values.filter(() => this.chance(probability))
  }

  list<T>(low: number, high: number, make: (index: number) => T): T[] {
    return Array.from({ length: this.int(low, high) }, (_, index) => make(index))
  }
}
