import type { SyncClock } from '../core/clock.ts'
import { isUntouched } from '../core/entry.ts'
import type { Disk } from '../stage/disk.ts'

/** Milliseconds for which a file is observed before it is read. */
export const SHORT_LOOK = 25

/** Milliseconds since the last change after which a file is not being written. */
const LONG_AGO = 1_000

/** Returns true if no process seems to be writing to a file: it was not touched lately, or not during the wait. */
export async function isWriteFinished(
  disk: Disk,
  clock: SyncClock,
  place: string,
  milliseconds: number,
): Promise<boolean> {
  const before = disk.entry(place)
  if (before === undefined || before === 'other' || isOld(clock.now() - before.mtime)) return true
  await new Promise<void>(resolve => void clock.after(milliseconds, resolve))
  const after = disk.entry(place)
  return after !== 'other' && isUntouched(before, after)
}

/** Returns true for a time long ago. A time in the future proves nothing. */
const isOld = (age: number): boolean => age > LONG_AGO

const LAST_LOOK = 800
const PATIENCE = 5_000
const FORGOTTEN = 10_000

/** A file being written while it is to be sent: how long to wait before treating the write as finished. */
export class WriteInProgress {
  #since: number
  #last: number
  #look = SHORT_LOOK

  constructor(now: number) {
    this.#since = now
    this.#last = now
  }

  /** Milliseconds for which to observe the file. */
  get look(): number {
    return this.#look
  }

  /** Records that the file is to be sent again. */
  begin(now: number): void {
    if (now - this.#last > FORGOTTEN) {
      this.#since = now
      this.#look = SHORT_LOOK
    }
    this.#last = now
  }

  /** Doubles the wait: the write seemed to be finished, and was not. */
  wasWrong(): void {
    this.#look = Math.min(LAST_LOOK, 2 * this.#look)
  }

  /** True if the file is written to all the time: it is then sent in its current state. */
  get isHopeless(): boolean {
    return this.#last - this.#since > PATIENCE
  }
}
