import { rfc3339 } from '../../records/names.ts'
import type { ServerContext } from '../context.ts'

/**
 * Attempts of the leader's work on several items, which each pass repeats. A failure of one item does not hold up the
 * others, and a failure that continues is logged once.
 */
export class Attempts {
  readonly #world: Pick<ServerContext, 'log' | 'now'>
  readonly #what: string
  /** The messages of the failures that continue, by the names of the item and of the step. */
  readonly #failures = new Map<string, Map<string, string>>()

  /** Creates a record without failures. In the log, `what` precedes the name of the item. */
  constructor(world: Pick<ServerContext, 'log' | 'now'>, what: string) {
    this.#world = world
    this.#what = what
  }

  /** Does a step of the work on an item. Logs a failure, unless the previous attempt at it failed in the same way. */
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

  /** Forgets items that no longer exist. */
  keep(isThere: (name: string) => boolean): void {
    for (const name of this.#failures.keys()) if (!isThere(name)) this.#failures.delete(name)
  }
}
