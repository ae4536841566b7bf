import { rfc3339 } from '../../records/names.ts'
import type { ServerContext } from '../context.ts'

/**
 * Runs the steps of the leader's work on several items, which each pass repeats. A failure of one item does not hold up
 * the others. A step that fails repeatedly with the same message is logged only once.
 */
export class Attempts {
  readonly #world: Pick<ServerContext, 'log' | 'now'>
  readonly #what: string
  /** Messages of the steps whose last attempt failed, by the name of the item and the name of the step. */
  readonly #failures = new Map<string, Map<string, string>>()

  /** Creates a record without failures. In the log, `what` precedes the name of the item. */
  constructor(world: Pick<ServerContext, 'log' | 'now'>, what: string) {
    this.#world = world
    this.#what = what
  }

  /**
   * Runs a step of the work on an item. Logs a failure, unless the previous attempt at this step failed with the same
   * message. Never throws.
   */
  async at(name: string, step: string, signal: AbortSignal, work: () => Promise<unknown>): Promise<void> {
    const failures = this.#failures.get(name) ?? new Map<string, string>()
    this.#failures.set(name, failures)
    try {
      await work()
      failures.delete(step)
    } catch (error) {
      if (signal.aborted) return
      const message = error instanceof Error ? error.message : String(error)
      if (failures.get(step) === message) return
      failures.set(step, message)
      this.#world.log({ time: rfc3339(this.#world.now()), text: `${this.#what} ${name}: ${message}` })
    }
  }

  /** Forgets the failures of items for which `isThere` returns false. */
  keep(isThere: (name: string) => boolean): void {
    for (const name of this.#failures.keys()) if (!isThere(name)) this.#failures.delete(name)
  }
}
