import { pause } from '../../../adapters/http/back-off.ts'

/**
 * Signal that wakes up a task when there is new work. The code that creates the work runs in the same process as the
 * task.
 */
export class WakeSignal {
  #isDue = false
  #wake: (() => void) | undefined

  /** Ends the current wait. If the task is not waiting, its next wait ends immediately. */
  now(): void {
    this.#isDue = true
    this.#wake?.()
  }

  /** Waits until `now` is called, at most for the given time. Throws if the signal is aborted. */
  async wait(milliseconds: number, signal: AbortSignal): Promise<void> {
    if (!this.#isDue) {
      const woken = new AbortController()
      this.#wake = () => woken.abort()
      await pause(milliseconds, AbortSignal.any([signal, woken.signal])).catch(() => signal.throwIfAborted())
      this.#wake = undefined
    }
    this.#isDue = false
  }
}
