import { turn } from '../core/clock.ts'
import type { FolderParts } from './folder-parts.ts'
import type { Transition } from './transition.ts'

/**
 * Number of paths that are checked before yielding to other work, and maximum number of paths in one request for their
 * state.
 */
const SLICE = 256
const ASKED = 1_000

/** Processes the queue of a folder, and sends the collected changes and requests. */
export class Cycle {
  readonly #parts: FolderParts
  readonly #steps: Transition
  #isWorking = false

  constructor(parts: FolderParts, steps: Transition) {
    this.#parts = parts
    this.#steps = steps
  }

  /** True if no work is running, and nothing is waiting to be sent. */
  get isResting(): boolean {
    return this.#parts.remote.isEmpty && !this.#isWorking
  }

  /** Does all the work that is possible now. Returns when the remaining paths have to wait. */
  async run(): Promise<void> {
    if (this.#isWorking) return
    this.#isWorking = true
    try {
      await this.#run()
    } finally {
      this.#isWorking = false
    }
  }

  async #run(): Promise<void> {
    const { state, local, remote, losses } = this.#parts
    losses.continueIfFilled()
    while (this.#canWork && (state.queue.size > 0 || state.uncertain.size > 0)) {
      if (state.uncertain.size > 0) {
        await this.#askAgain()
        continue
      }
      local.begin()
      for (let steps = 0; steps < SLICE && !remote.isFull && !losses.stopped; steps++) {
        const node = state.queue.take()
        if (!node) break
        this.#steps.step(node)
      }
      await this.#flush()
    }
    if (state.queue.size > 0 || state.busy.size > 0) return
    losses.rest()
    state.gone.forget()
  }

  get #canWork(): boolean {
    const { state, losses } = this.#parts
    const { world } = state
    return state.isScanned && !losses.stopped && !state.isClosed && !world.isPaused && world.link !== undefined
  }

  async #flush(): Promise<void> {
    const { state, remote } = this.#parts
    const { world } = state
    if (!remote.isEmpty) {
      await world.credit.room()
      const { link } = world
      if (link) remote.send(link)
      else remote.drop()
      await link?.connection.drained()
    }
    if (state.queue.size > 0) await turn(world.clock)
  }

  async #askAgain(): Promise<void> {
    const { state, remote } = this.#parts
    const { uncertain, world } = state
    const nodes = [...uncertain].slice(0, ASKED)
    for (const node of nodes) uncertain.delete(node)
    try {
      if (world.link) await remote.stat(world.link, nodes)
    } catch {
      for (const node of nodes) uncertain.add(node)
      await turn(world.clock)
    }
  }
}
