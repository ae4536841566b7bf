import type { SyncClock } from '../core/clock.ts'

/** Clock of this machine. */
export const systemClock: SyncClock = {
  now: Date.now,
  after(milliseconds, call) {
    if (milliseconds === 0) {
      const turn = setImmediate(call)
      return () => clearImmediate(turn)
    }
    const timer = setTimeout(call, milliseconds)
    return () => clearTimeout(timer)
  },
}
