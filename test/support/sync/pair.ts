import { Duplex } from 'node:stream'
import type { SyncClock } from '../../../sync/core/clock.ts'

/** Two ends of a connection in memory. It can be cut after a number of frames. */
export class Pair {
  readonly one: Duplex
  readonly other: Duplex
  #left = Infinity
  #isFrozen = false

  /** `latency` is the time that bytes take to the other end, in milliseconds. */
  constructor(clock: SyncClock, latency = 1) {
    const make = (target: () => Duplex): Duplex =>
      new Duplex({
        read: () => {},
        write: (bytes: Buffer, _encoding, done) => {
          clock.after(latency, () => {
            if (this.#isFrozen) return
            if (this.#left-- <= 0) this.cut()
            else if (!target().destroyed) target().push(bytes)
            done()
          })
        },
      })
    this.one = make(() => this.other)
    this.other = make(() => this.one)
    for (const end of [this.one, this.other]) end.on('close', () => clock.after(1, () => this.cut()))
  }

  cutAfter(frames: number): void {
    this.#left = frames
  }

  /** Drops everything that is sent from now on, without an error on either side. */
  freeze(): void {
    this.#isFrozen = true
  }

  cut(): void {
    this.one.destroy()
    this.other.destroy()
  }
}
