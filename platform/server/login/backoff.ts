import { rfc3339 } from '../../records/names.ts'
import type { ServerContext } from '../context.ts'

/**
 * Retries the leader's work on several items. Each item is retried on every pass. A failure of one item does not hold
 * up the others, and the same failure is logged only once.
 */
export class Backoff {
  readonly #world: Pick<ServerContext, 'log' | 'now'>
  readonly #what: string
  /** The last message that was logged for each name. */
  readonly #logged = new Map<string, string>()

  /** Creates a backoff. In the log, `what` precedes the name of the item. */
  constructor(world: Pick<ServerContext, 'log' | 'now'>, what: string) {
    this.#world = world
    this.#what = what
  }

  async at(name: string, signal: AbortSignal, work: () => Promise<unknown>): Promise<void> {
    try {
      await work()
    } catch (error) {
      if (signal.aborted) return
      const message = error instanceof Error ? error.message : String(error)
      if (this.#logged.get(name) === message) return
      this.#logged.set(name, message)
      this.#world.log({ time: rfc3339(this.#world.now()), text: `${this.#what} ${name}: ${message}` })
    }
  }

  /** Forgets items that no longer exist. */
  keep(isThere: (name: string) => boolean): void {
    for (const name of this.#logged.keys()) if (!isThere(name)) this.#logged.delete(name)
  }
}
