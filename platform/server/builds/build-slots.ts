import { builderFor, inOrder } from '../../rules/placement.ts'

/** A place for one build on a builder. */
export interface BuildSlot {
  readonly builder: string
  /** Gives it back, once. */
  free(): void
}

/** A build that wants a place. */
export interface WantedSlot {
  readonly user: string
  /** Builds with the same key find what earlier ones have left. */
  readonly key: string
  readonly signal: AbortSignal
  /** Hears how many builds are before it, whenever that changes. */
  readonly onQueue: (before: number) => void
}

interface Waiting extends WantedSlot {
  readonly place: (slot: BuildSlot) => void
  told?: number
}

/** There are too many builds already; the message says of whom. */
export class TooManyBuilds extends Error {}

/** Builds of one person that wait. */
const WAITING_OF_ONE = 32
/** Of all people. */
const WAITING = 256

/**
 * The places of all builders. Who has the fewest builds running is served first, and where there are
 * several places, nobody has all of them: a person with many builds does not hold up the others.
 */
export class BuildSlots {
  readonly #builders: readonly string[]
  readonly #most: number
  readonly #running: { readonly user: string; readonly builder: string }[] = []
  #waiting: Waiting[] = []

  constructor(builders: readonly string[], most: number) {
    this.#builders = builders
    this.#most = most
  }

  /** Waits for a place. Throws TooManyBuilds, and the signal's reason. */
  async take(wanted: WantedSlot): Promise<BuildSlot> {
    const { user, signal } = wanted
    signal.throwIfAborted()
    if (this.#waiting.length >= WAITING) throw new TooManyBuilds(`${WAITING} builds are waiting already`)
    if (this.#waiting.filter(one => one.user === user).length >= WAITING_OF_ONE)
      throw new TooManyBuilds(`${WAITING_OF_ONE} of your builds are waiting already`)
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        ...wanted,
        place: slot => {
          signal.removeEventListener('abort', leave)
          resolve(slot)
        },
      }
      const leave = () => {
        this.#waiting = this.#waiting.filter(one => one !== waiting)
        reject(signal.reason)
        this.#serve()
      }
      signal.addEventListener('abort', leave, { once: true })
      this.#waiting.push(waiting)
      this.#serve()
    })
  }

  #serve(): void {
    for (;;) {
      const order = this.#order()
      const next = order
        .map(one => ({ one, builder: this.#builderFor(one) }))
        .find(({ builder }) => builder !== undefined)
      if (!next) {
        for (const [before, one] of order.entries()) {
          if (one.told !== before) one.onQueue(before)
          one.told = before
        }
        return
      }
      this.#waiting = this.#waiting.filter(one => one !== next.one)
      next.one.place(this.#slotOn(next.builder!, next.one.user))
    }
  }

  /** Sorting keeps the order of those who are equal: who came first is before others. */
  #order(): readonly Waiting[] {
    return [...this.#waiting].sort((a, b) => this.#runningOf(a.user) - this.#runningOf(b.user))
  }

  #builderFor({ user, key }: Waiting): string | undefined {
    const all = this.#builders.length * this.#most
    const own = this.#runningOf(user)
    if (own > 0 && own >= all - 1) return undefined
    const runningOn = (builder: string) => this.#running.filter(one => one.builder === builder).length
    return builderFor(inOrder(this.#builders, key), runningOn, this.#most)
  }

  #runningOf(user: string): number {
    return this.#running.filter(one => one.user === user).length
  }

  #slotOn(builder: string, user: string): BuildSlot {
    const one = { user, builder }
    this.#running.push(one)
    return {
      builder,
      free: () => {
        const at = this.#running.indexOf(one)
        if (at === -1) return
        this.#running.splice(at, 1)
        this.#serve()
      },
    }
  }
}
