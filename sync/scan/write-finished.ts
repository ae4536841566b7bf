import type { SyncClock } from '../core/clock.ts'
import { isUntouched } from '../core/entry.ts'
import type { Disk } from '../stage/disk.ts'

/** Time for which a file is observed before it is read, in milliseconds. */
export const SHORT_LOOK = 25

/** Age of the last change above which a file counts as not being written, in milliseconds. */
const LONG_AGO = 1_000

/**
 * Returns true if no process seems to be writing to a file: its last change is long ago, or it does not change for the
 * given number of milliseconds.
 */
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

/** Returns true if the last change is long enough ago. A time in the future proves nothing. */
const isOld = (age: number): boolean => age > LONG_AGO

const LAST_LOOK = 800
const PATIENCE = 5_000
const FORGOTTEN = 10_000

/**
 * File that should be sent but may still be written to. Determines how long to wait before the write counts as
 * finished.
 */
export class WriteInProgress {
  #since: number
  #last: number
  #look = SHORT_LOOK

  constructor(now: number) {
    this.#since = now
    this.#last = now
  }

  /** Time for which to observe the file, in milliseconds. */
  get look(): number {
    return this.#look
  }

  /** Records another attempt to send the file. */
  begin(now: number): void {
    if (now - this.#last > FORGOTTEN) {
      this.#since = now
      this.#look = SHORT_LOOK
    }
    this.#last = now
  }

  /**
   * Doubles the time of observation, up to a maximum, because the file changed again after the write seemed to be
   * finished.
   */
  wasWrong(): void {
    this.#look = Math.min(LAST_LOOK, 2 * this.#look)
  }

  /** True if the file has been written to for so long that it should be sent in its current state. */
  get isHopeless(): boolean {
    return this.#last - this.#since > PATIENCE
  }
}
