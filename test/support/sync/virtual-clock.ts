import type { SyncClock } from '../../../sync/core/clock.ts'

interface Timer {
  readonly time: number
  readonly order: number
  readonly call: () => void
}

/** Time that passes only when everything that is due has been done. */
export class VirtualClock implements SyncClock {
  #now = 1_700_000_000_000
  #order = 0
  #timers: Timer[] = []

  now = (): number => this.#now

  after(milliseconds: number, call: () => void): () => void {
    const timer = { time: this.#now + milliseconds, order: ++this.#order, call }
    let at = this.#timers.length
    while (at > 0 && this.#timers[at - 1]!.time > timer.time) at--
    this.#timers.splice(at, 0, timer)
    return () => {
      const found = this.#timers.indexOf(timer)
      if (found !== -1) this.#timers.splice(found, 1)
    }
  }

  /** Milliseconds until the next timer. */
  get next(): number {
    const [first] = this.#timers
    return first ? Math.max(0, first.time - this.#now) : Infinity
  }

  /** Runs what comes within that time; ends early when nothing comes for longer than `quiet`. */
  async run(milliseconds: number, quiet = Infinity): Promise<void> {
    const end = this.#now + milliseconds
    for (;;) {
      await idle()
      if (this.next > quiet || this.#now + this.next > end) break
      const timer = this.#timers.shift()!
      this.#now = Math.max(this.#now, timer.time)
      timer.call()
    }
    this.#now = Math.min(end, this.#now + Math.min(this.next, quiet))
  }
}

/** Lets promises and streams continue until they wait for time. */
async function idle(): Promise<void> {
  for (let n = 0; n < 3; n++) await new Promise<void>(resolve => process.nextTick(resolve))
}
