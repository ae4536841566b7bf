import { setTimeout as sleep } from 'node:timers/promises'

/** Milliseconds between two checks for running processes. */
const LOOK = 20
/**
 * Milliseconds that the kernel has to remove killed processes. A process that is not reaped stays as a zombie, which
 * does nothing any more.
 */
const BURIAL = 1_000

/**
 * The processes that a command started, and those that they started: all that are in its group.
 * Processes that leave the group, as daemons do, are no longer ours.
 */
export class ProcessGroup {
  readonly #id: number
  readonly #kill = () => this.send('SIGKILL')
  #isOver = false

  /** `id` is that of the first process, which leads its own group. */
  constructor(id: number) {
    this.#id = id
    // When devctl itself ends in the midst of it.
    process.once('exit', this.#kill)
  }

  /** True if any of them is still running. */
  get isAlive(): boolean {
    return !this.#isOver && this.send(0)
  }

  /**
   * Releases the group if it is empty, since another group may get its number. Must be called when the first process
   * has ended.
   */
  settle(): void {
    if (!this.send(0)) this.release()
  }

  /**
   * Lets the remaining processes continue, as the shared connection of ssh does. Must be called when the first process
   * has ended.
   */
  release(): void {
    this.#isOver = true
    process.removeListener('exit', this.#kill)
  }

  /** Asks all of them to end; kills those that have not after `grace` milliseconds. */
  async end(grace: number): Promise<void> {
    if (this.#isOver) return
    this.send('SIGTERM')
    if (!(await this.#gone(grace))) {
      this.send('SIGKILL')
      await this.#gone(BURIAL)
    }
    this.release()
  }

  async #gone(milliseconds: number): Promise<boolean> {
    for (let waited = 0; this.send(0); waited += LOOK) {
      if (waited >= milliseconds) return false
      await sleep(LOOK)
    }
    return true
  }

  /** Sends a signal to all of them; 0 only looks. False when there is none left. */
  send(signal: NodeJS.Signals | 0): boolean {
    try {
      return process.kill(-this.#id, signal)
    } catch (error) {
      // EPERM: one that has become another user's.
      return (error as NodeJS.ErrnoException).code === 'EPERM'
    }
  }
}
