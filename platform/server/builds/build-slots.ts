import { unlessAborted } from '../../../adapters/http/abort.ts'
import { builderFor, inOrder } from '../../rules/registry/placement.ts'

/** A slot for one build on a builder. */
export interface BuildSlot {
  readonly builder: string
  /**
   * Resolves when the builder has been emptied since it was idle: calls `empty`, or waits for the call of another build
   * that got a slot since then. Calls `empty` itself if the other call fails. Throws the error of `empty`, or the
   * signal's abort reason.
   */
  emptied(empty: () => Promise<void>, signal: AbortSignal): Promise<void>
  /** Releases the slot; further calls do nothing. */
  free(): void
}

/** A build that requests a slot. */
export interface WantedSlot {
  readonly user: string
  /** Cache scope of the namespace that the build belongs to, derived from the UID of the namespace. */
  readonly namespace: string
  /** Key of a build. Builds with the same key prefer the same builder, so they reuse each other's cache. */
  readonly key: string
  readonly signal: AbortSignal
  /** Called with the number of builds ahead in the queue, whenever this number changes. */
  readonly onQueue: (before: number) => void
}

/** Builds on a builder since it was idle. */
interface Series {
  /** The call that empties the builder, unless none is running and none has succeeded. */
  emptied?: Promise<void>
}

interface Waiting extends WantedSlot {
  readonly place: (slot: BuildSlot) => void
  told?: number
  /** The builder that is drained for this build, because the build needs an empty builder. */
  drained?: string
  /** Number of later builds that got a slot on the drained builder while this build was waiting. */
  overtakenBy: number
}

/** The load of the builders. */
export interface BuildLoad {
  /** Number of running builds on each builder, by the builder's address. */
  readonly running: ReadonlyMap<string, number>
  readonly waiting: number
  /** Maximum number of concurrent builds on one builder. */
  readonly atOnce: number
}

/**
 * Error if too many builds are waiting already. The message says whether the limit of the user or the limit of all
 * users was reached.
 */
export class TooManyBuilds extends Error {}

/** Maximum number of waiting builds of one user. */
const WAITING_OF_ONE = 32
/** Maximum number of waiting builds of all users. */
const WAITING = 256

/**
 * Assigns builds to the slots of all builders. The user with the fewest running builds is served first, and if there
 * are several slots, no user occupies all of them, so a user with many builds does not hold up the others. If each
 * builder runs builds of only one namespace at a time, neither a user nor a namespace occupies all of several builders.
 * For the first build that waits for an empty builder, one builder is drained: later builds get no slot on this
 * builder, but may use every slot on the other builders. If there is only one builder, it accepts a few more builds
 * before it is drained.
 */
export class BuildSlots {
  readonly #builders: readonly string[]
  readonly #most: number
  readonly #oneNamespace: boolean
  readonly #running: { readonly user: string; readonly namespace: string; readonly builder: string }[] = []
  /** Newest series of builds on each builder. */
  readonly #series = new Map<string, Series>()
  #waiting: Waiting[] = []

  constructor(builders: readonly string[], most: number, oneNamespace = false) {
    this.#builders = builders
    this.#most = most
    this.#oneNamespace = oneNamespace
  }

  load(): BuildLoad {
    const running = new Map(
      this.#builders.map(one => [one, this.#running.filter(({ builder }) => builder === one).length]),
    )
    return { running, waiting: this.#waiting.length, atOnce: this.#most }
  }

  /** Waits for a slot. Throws TooManyBuilds, or the signal's abort reason. */
  async take(wanted: WantedSlot): Promise<BuildSlot> {
    const { user, signal } = wanted
    signal.throwIfAborted()
    if (this.#waiting.length >= WAITING) throw new TooManyBuilds(`${WAITING} builds are waiting already`)
    if (this.#waiting.filter(one => one.user === user).length >= WAITING_OF_ONE)
      throw new TooManyBuilds(`${WAITING_OF_ONE} of your builds are waiting already`)
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        ...wanted,
        overtakenBy: 0,
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
      const next = this.#next(order)
      if (!next) {
        for (const [before, one] of order.entries()) {
          if (one.told !== before) one.onQueue(before)
          one.told = before
        }
        return
      }
      this.#waiting = this.#waiting.filter(one => one !== next.one)
      next.one.place(this.#slotOn(next.builder, next.one))
    }
  }

  /**
   * Returns the waiting builds in order: builds of the users with the fewest running builds first. Sorting is stable,
   * so for equal counts the earlier build stays first.
   */
  #order(): readonly Waiting[] {
    return [...this.#waiting].sort((a, b) => this.#runningOf(a.user) - this.#runningOf(b.user))
  }

  #next(order: readonly Waiting[]): { readonly one: Waiting; readonly builder: string } | undefined {
    let first: Waiting | undefined
    for (const one of order) {
      if (this.#hasEnough(one.user)) continue
      const own = this.#buildersLeft(one)
      const isDrained = (builder: string) => builder === first?.drained
      const isOpen = (builder: string) => !isDrained(builder) || first!.overtakenBy < this.#mostOvertaking
      const builder = this.#builderFor(one, own.filter(isOpen))
      if (builder !== undefined) {
        if (first && isDrained(builder)) first.overtakenBy++
        return { one, builder }
      }
      // Further builds of the namespaces that run now could occupy every builder forever without draining.
      if (first || !this.#oneNamespace || own.length < this.#builders.length) continue
      first = one
      first.drained ??= this.#emptiest()
    }
    return undefined
  }

  /**
   * Number of later builds that still get a slot on the builder that is being drained. The number is 0 if there are
   * several builders. A single builder accepts a few more builds, because it would otherwise be idle.
   */
  get #mostOvertaking(): number {
    return this.#builders.length === 1 ? this.#most - 1 : 0
  }

  /** Returns the builder with the fewest running builds; undefined if there are no builders. */
  #emptiest(): string | undefined {
    const running = (builder: string) => this.#running.filter(one => one.builder === builder).length
    return [...this.#builders].sort((a, b) => running(a) - running(b))[0]
  }

  #hasEnough(user: string): boolean {
    const own = this.#runningOf(user)
    return own > 0 && own >= this.#buildersOfOne * this.#most - 1
  }

  /**
   * Maximum number of builders that one user or one namespace can occupy. At this limit, further builds of the user or
   * the namespace get slots only on these builders.
   */
  get #buildersOfOne(): number {
    const { length } = this.#builders
    return this.#oneNamespace && length > 1 ? length - 1 : length
  }

  /**
   * Returns the builders that a build may use. If its user or its namespace already occupies the maximum number of
   * builders, only those builders are returned.
   */
  #buildersLeft({ user, namespace }: Waiting): readonly string[] {
    if (!this.#oneNamespace) return this.#builders
    const own = [
      new Set(this.#running.flatMap(one => (one.user === user ? [one.builder] : []))),
      new Set(this.#running.flatMap(one => (one.namespace === namespace ? [one.builder] : []))),
    ]
    const full = own.filter(({ size }) => size > 0 && size >= this.#buildersOfOne)
    return this.#builders.filter(builder => full.every(builders => builders.has(builder)))
  }

  #builderFor({ namespace, key }: Waiting, builders: readonly string[]): string | undefined {
    const on = (builder: string) => this.#running.filter(one => one.builder === builder)
    const isOpen = (builder: string) => !this.#oneNamespace || on(builder).every(one => one.namespace === namespace)
    return builderFor(inOrder(builders.filter(isOpen), key), builder => on(builder).length, this.#most)
  }

  #runningOf(user: string): number {
    return this.#running.filter(one => one.user === user).length
  }

  #slotOn(builder: string, { user, namespace }: Waiting): BuildSlot {
    const one = { user, namespace, builder }
    const isIdle = !this.#running.some(running => running.builder === builder)
    const series = (isIdle ? undefined : this.#series.get(builder)) ?? {}
    this.#series.set(builder, series)
    this.#running.push(one)
    return {
      builder,
      emptied: (empty, signal) => emptyOnce(series, empty, signal),
      free: () => {
        const at = this.#running.indexOf(one)
        if (at === -1) return
        this.#running.splice(at, 1)
        this.#serve()
      },
    }
  }
}

async function emptyOnce(series: Series, empty: () => Promise<void>, signal: AbortSignal): Promise<void> {
  for (;;) {
    const { emptied } = series
    if (!emptied) break
    const isEmpty = await unlessAborted(
      emptied.then(
        () => true,
        () => false,
      ),
      signal,
    )
    if (isEmpty) return
  }
  const own = empty()
  series.emptied = own
  try {
    await own
  } catch (error) {
    delete series.emptied
    throw error
  }
}
