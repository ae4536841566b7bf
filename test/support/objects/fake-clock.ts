import type { Clock } from '../../../environment/clock.ts'

/** A clock that a test moves. */
export class FakeClock implements Clock {
  #now = Date.parse('2026-01-01T00:00:00Z')
  readonly #timers = new Set<{ readonly milliseconds: number; due: number; readonly run: () => void }>()

  now(): number {
    return this.#now
  }

  every(milliseconds: number, run: () => void): () => void {
    const timer = { milliseconds, due: this.#now + milliseconds, run }
    this.#timers.add(timer)
    return () => this.#timers.delete(timer)
  }

  /** Moves the time on; what is due waits for the next `pass`. */
  skip(milliseconds: number): void {
    this.#now += milliseconds
  }

  /** Lets milliseconds pass, and what is due happen. */
  async pass(milliseconds: number): Promise<void> {
    const end = this.#now + milliseconds
    for (;;) {
      const next = [...this.#timers].filter(({ due }) => due <= end).sort((a, b) => a.due - b.due)[0]
      if (!next) break
      this.#now = Math.max(this.#now, next.due)
      next.due += next.milliseconds
      next.run()
      await settle()
    }
    this.#now = end
    await settle()
  }
}

/** Lets everything happen that only waits for its turn. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 30; turn++) await new Promise(resolve => setImmediate(resolve))
}
