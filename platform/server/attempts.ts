import { rfc3339 } from '../records/names.ts'
import type { PlatformWorld } from './world.ts'

/**
 * Work of the leader on several things, which is tried again at each look. What goes wrong with one holds up no other,
 * and is logged once.
 */
export class Attempts {
  readonly #world: Pick<PlatformWorld, 'log' | 'now'>
  readonly #what: string
  /** What was logged last, by name. */
  readonly #logged = new Map<string, string>()

  /** `what` comes before the name of a thing in the log. */
  constructor(world: Pick<PlatformWorld, 'log' | 'now'>, what: string) {
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

  /** Forgets what is not there any more. */
  keep(isThere: (name: string) => boolean): void {
    for (const name of this.#logged.keys()) if (!isThere(name)) this.#logged.delete(name)
  }
}
