import { setTimeout as sleep } from 'node:timers/promises'

/** Polling interval for running processes, in milliseconds. */
const LOOK = 20
/**
 * Time for the kernel to remove killed processes, in milliseconds. A process that is not reaped remains as a zombie,
 * which is inactive.
 */
const BURIAL = 1_000

/**
 * The process group of a command: the processes that it started directly or indirectly. Processes that leave the group,
 * as daemons do, are no longer tracked.
 */
export class ProcessGroup {
  readonly #id: number
  readonly #kill = () => this.send('SIGKILL')
  #isOver = false

  /** Creates a group. `id` is the id of the first process, which leads the group. */
  constructor(id: number) {
    this.#id = id
    // Kills the group if devctl exits before it has ended.
    process.once('exit', this.#kill)
  }

  /** True if a process of the group is still running. */
  get isAlive(): boolean {
    return !this.#isOver && this.send(0)
  }

  /**
   * Releases the group if no process is left in it, because its id may then be given to another group. To be called
   * when the first process has ended.
   */
  settle(): void {
    if (!this.send(0)) this.release()
  }

  /**
   * Stops tracking the group, so that its remaining processes survive the end of devctl, for example the process with
   * the shared connection of ssh. To be called when the first process has ended.
   */
  release(): void {
    this.#isOver = true
    process.removeListener('exit', this.#kill)
  }

  /** Sends SIGTERM to all processes, and SIGKILL to those that are still running after `grace` milliseconds. */
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

  /**
   * Sends a signal to all processes; 0 sends nothing and only checks whether a process is left. Returns false if none
   * is left.
   */
  send(signal: NodeJS.Signals | 0): boolean {
    try {
      return process.kill(-this.#id, signal)
    } catch (error) {
      // EPERM: a process has switched to another user.
      return (error as NodeJS.ErrnoException).code === 'EPERM'
    }
  }
}
