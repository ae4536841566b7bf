import type { SyncClock } from '../core/clock.ts'
import { isUntouched } from '../core/entry.ts'
import type { Disk } from '../stage/disk.ts'

/** How long one looks at a file before it is read. */
export const SHORT_LOOK = 25

/** A file that was touched so long ago is not being written. */
const LONG_AGO = 1_000

/** Whether nobody seems to be writing to a file: it was not touched lately, or not while we waited. */
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

/** A time in the future says nothing. */
const isOld = (age: number): boolean => age > LONG_AGO

const LAST_LOOK = 800
const PATIENCE = 5_000
const FORGOTTEN = 10_000

/** Somebody who writes to a file while it is to be sent: how long we look before we believe that he is done. */
export class WriteInProgress {
  #since: number
  #last: number
  #look = SHORT_LOOK

  constructor(now: number) {
    this.#since = now
    this.#last = now
  }

  /** Milliseconds. */
  get look(): number {
    return this.#look
  }

  /** It is to be sent again. */
  begin(now: number): void {
    if (now - this.#last > FORGOTTEN) {
      this.#since = now
      this.#look = SHORT_LOOK
    }
    this.#last = now
  }

  /** It seemed to be at rest, and was not. */
  wasWrong(): void {
    this.#look = Math.min(LAST_LOOK, 2 * this.#look)
  }

  /** A file that is always being written is taken as it is. */
  get isHopeless(): boolean {
    return this.#last - this.#since > PATIENCE
  }
}
