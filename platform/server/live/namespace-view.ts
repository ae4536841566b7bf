import { setImmediate } from 'node:timers/promises'
import { pause } from '../../../adapters/http/back-off.ts'
import type { Cluster } from '../../../adapters/kubernetes/cluster.ts'
import type { EnvironmentDetails, LiveEvent, ShownChanges, ShownJob, ShownService } from '../../api/environments.ts'
import { type ExplanationContext, Explanations } from './explanations.ts'
import { historyOf, Notes } from './notes.ts'
import { ObjectCache, type Room, type SceneEnvironment } from './object-cache.ts'
import { seenIn, toDetails } from './view.ts'
import { shownJobs } from './view-jobs.ts'

/** Time in milliseconds for which changes are collected, because the start of one Pod causes several changes. */
const GATHERING = 40
/**
 * Minimum length of the pause between two computations of states, as a multiple of the duration of the last
 * computation, so that computing uses only a part of the server's time; and maximum length of the pause in
 * milliseconds.
 */
const SHARE = 5
const LONGEST_PAUSE = 3000
/**
 * Interval between two checks of services that are not ready, in milliseconds. The checks are needed because no event
 * reports that a service takes too long to become ready, or that the namespace has fallen asleep.
 */
const LOOKING = 5000
const LOOKED_AT: ReadonlySet<string> = new Set(['waiting', 'failed', 'stopped', 'asleep'])
/**
 * Maximum number of environments with changes that a client has not received yet. If there are more, the client gets
 * the full state again.
 */
const MOST_WAITING = 256
/**
 * Maximum number of changed services of one environment that a client has not received yet. If there are more, the
 * entire environment is sent.
 */
const MOST_CHANGED = 16
/**
 * Maximum size of the environments in a snapshot, in characters. The remaining environments are sent as separate
 * events, so that no event is large.
 */
const MOST_TOGETHER = 256 * 1024
/** Maximum size of one environment in characters. */
const MOST_OF_ONE = 1024 * 1024
/**
 * Number of copies of an event that are in memory until its client has received it: the state, its JSON text, and the
 * data to send.
 */
const COPIES = 3
/** Interval between two attempts to send an event for which there is no memory, in milliseconds. */
const CROWDED = 500

/** The last published state of an environment, with the JSON text of each service. */
interface Published {
  readonly details: EnvironmentDetails
  readonly head: string
  readonly services: ReadonlyMap<string, string>
  /** Size of the texts in characters. */
  readonly size: number
}

/**
 * A change of an environment: the entire environment, or the names of changed services. The current content is read
 * when the change is sent.
 */
type Changed = 'all' | ReadonlySet<string>

/** An event, and the size of its environments or services in characters. */
interface SizedEvent {
  readonly event: LiveEvent
  readonly size: number
}

/** Dependencies of a view. */
interface ViewContext extends ExplanationContext {
  /** Memory budget for events that clients have not received yet. */
  readonly sending: Room
  now(): number
  /** True while the namespace sleeps. */
  isAsleep(): boolean
}

/** The live view of a namespace with the rights of one login, shared by all viewers with this login. */
export class NamespaceView {
  readonly #namespace: string
  readonly #scene: ObjectCache
  readonly #notes: Notes
  readonly #explanations: Explanations
  readonly #around: ViewContext
  readonly #stop = new AbortController()
  readonly #dirty = new Set<string>()
  readonly #published = new Map<string, Published>()
  readonly #listeners = new Set<(environment: string, changed: Changed) => void>()
  readonly #ready: Promise<void>
  #isListed = false
  /** Settles when the last computation of states that was started is complete. */
  #publishing: Promise<void> = Promise.resolve()
  #isPublishing = false
  #timer: NodeJS.Timeout | undefined
  #looking: NodeJS.Timeout | undefined
  #pause = GATHERING

  constructor(cluster: Cluster, namespace: string, around: ViewContext) {
    this.#namespace = namespace
    this.#around = around
    const changed = (environment: string) => this.#mark(environment)
    this.#scene = new ObjectCache(cluster, namespace, around, changed)
    this.#notes = new Notes(around)
    this.#explanations = new Explanations(cluster, around, changed)
    this.#ready = new Promise((resolve, reject) => {
      const listed = () => {
        this.#isListed = true
        this.#looking = setInterval(() => this.#lookAgain(), LOOKING).unref()
        resolve(this.#publish())
      }
      this.#scene.run(this.#stop.signal, listed).catch((error: unknown) => {
        this.end(error)
        reject(error)
      })
    })
    this.#ready.catch(() => {})
  }

  /** Aborted with the reason when the view has ended. After that, the view sends nothing more. */
  get ended(): AbortSignal {
    return this.#stop.signal
  }

  end(reason: unknown): void {
    clearTimeout(this.#timer)
    clearInterval(this.#looking)
    this.#stop.abort(reason)
    for (const { size } of this.#published.values()) this.#around.give(size)
    this.#published.clear()
    this.#notes.forgetAll()
    this.#explanations.end()
  }

  /** Returns the current state of all environments. Rejects with the error that ended the watches. */
  async environments(): Promise<readonly EnvironmentDetails[]> {
    await this.#ready
    await this.#publish()
    this.#stop.signal.throwIfAborted()
    return [...this.#published.values()].map(({ details }) => details)
  }

  /** Returns the state of an environment, including the reasons for its failures; undefined if it does not exist. */
  async environment(name: string): Promise<EnvironmentDetails | undefined> {
    await this.environments()
    await this.#explanations.settled(name)
    return (await this.environments()).find(one => one.name === name)
  }

  /** Returns the last deploys of an environment, the newest first; undefined if it does not exist. */
  async history(name: string): Promise<ShownChanges[] | undefined> {
    await this.environments()
    const environment = this.#scene.environment(name)
    return environment && this.#published.has(name) ? historyOf(environment) : undefined
  }

  /**
   * Yields the state of all environments and then their changes, until the signal is aborted. For a client that reads
   * slowly, only the names of changed environments and services are kept. Throws the error that ended the view.
   */
  async *follow(signal: AbortSignal): AsyncGenerator<LiveEvent> {
    await this.#ready
    const both = AbortSignal.any([signal, this.#stop.signal])
    const waiting = new Map<string, Changed>()
    let isBehind = true
    let wake = () => {}
    const listen = (environment: string, changed: Changed) => {
      waiting.set(environment, together(waiting.get(environment), changed))
      isBehind ||= waiting.size > MOST_WAITING
      if (isBehind) waiting.clear()
      wake()
    }
    const onEnd = () => wake()
    both.addEventListener('abort', onEnd)
    this.#listeners.add(listen)
    try {
      for (;;) {
        if (signal.aborted) return
        this.#stop.signal.throwIfAborted()
        if (isBehind) {
          await this.environments()
          isBehind = false
          yield* this.#sent(
            both,
            () => this.#snapshot(),
            ({ rest }) => {
              waiting.clear()
              for (const name of rest) waiting.set(name, 'all')
            },
          )
          continue
        }
        const [next] = waiting
        if (next) {
          const [environment] = next
          yield* this.#sent(
            both,
            () => this.#eventOf(environment, waiting.get(environment) ?? 'all'),
            () => waiting.delete(environment),
          )
        } else
          await new Promise<void>(resolve => {
            wake = resolve
          })
      }
    } finally {
      this.#listeners.delete(listen)
      both.removeEventListener('abort', onEnd)
    }
  }

  /**
   * Yields an event as soon as the budget has room for it. Each attempt creates the event with `make`. The event of the
   * successful attempt is passed to `take`, and then yielded. Its share of the budget is released when the client asks
   * for the next event.
   */
  async *#sent<E extends SizedEvent>(
    signal: AbortSignal,
    make: () => E,
    take: (event: E) => void,
  ): AsyncGenerator<LiveEvent> {
    const { sending } = this.#around
    while (!signal.aborted) {
      const sized = make()
      const room = COPIES * sized.size
      if (sending.take(room)) {
        take(sized)
        try {
          yield sized.event
        } finally {
          sending.give(room)
        }
        return
      }
      await pause(CROWDED, signal).catch(() => {})
    }
  }

  /** Returns a snapshot event with the first environments, and the names of the remaining environments. */
  #snapshot(): SizedEvent & { readonly rest: readonly string[] } {
    const environments: EnvironmentDetails[] = []
    const rest: string[] = []
    let size = 0
    for (const [name, one] of this.#published) {
      if (environments.length > 0 && size + one.size > MOST_TOGETHER) rest.push(name)
      else {
        environments.push(one.details)
        size += one.size
      }
    }
    return { event: { type: 'snapshot', environments }, size, rest }
  }

  /** Returns an event with the current state of the changed environment or services. */
  #eventOf(environment: string, changed: Changed): SizedEvent {
    const found = this.#published.get(environment)
    if (!found) return { event: { type: 'removed', environment }, size: environment.length }
    const { details, services: texts, size } = found
    if (changed === 'all') return { event: { type: 'environment', environment: details }, size }
    const services = details.services.filter(({ name }) => changed.has(name))
    const sizes = services.map(({ name }) => texts.get(name)?.length ?? 0)
    return {
      event: { type: 'services', environment, state: details.state, services },
      size: sizes.reduce((sum, one) => sum + one, environment.length),
    }
  }

  #mark(environment: string): void {
    this.#dirty.add(environment)
    this.#schedule()
  }

  /** Schedules the computation of states after the pause, unless it is already scheduled or running. */
  #schedule(): void {
    if (this.#timer || this.#isPublishing || this.#dirty.size === 0) return
    if (!this.#isListed || this.#stop.signal.aborted) return
    this.#timer = setTimeout(() => this.#publish(), this.#pause)
  }

  #lookAgain(): void {
    for (const [name, { details }] of this.#published)
      if (details.services.some(({ state }) => LOOKED_AT.has(state)) || details.jobs?.some(one => this.#isDue(one)))
        this.#mark(name)
  }

  /** Returns true if the time of a job's next run has passed. If the cluster skips the run, no event reports this. */
  #isDue({ nextRun }: ShownJob): boolean {
    return nextRun !== undefined && Date.parse(nextRun) <= this.#around.now()
  }

  /** Computes and publishes the pending changes. Resolves when all changes so far are published. */
  #publish(): Promise<void> {
    this.#publishing = this.#publishing.then(() => this.#publishDirty()).catch((error: unknown) => this.end(error))
    return this.#publishing
  }

  /** Publishes one environment at a time, so the server can do other work in between. */
  async #publishDirty(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#isPublishing = true
    const dirty = [...this.#dirty]
    this.#dirty.clear()
    let worked = 0
    for (const name of dirty) {
      if (this.#stop.signal.aborted) return
      const began = performance.now()
      const environment = this.#scene.environment(name)
      const changed = environment ? this.#look(environment) : this.#remove(name)
      if (changed) for (const listener of this.#listeners) listener(name, changed)
      worked += performance.now() - began
      await setImmediate()
    }
    this.#pause = Math.min(LONGEST_PAUSE, Math.max(GATHERING, SHARE * worked))
    this.#isPublishing = false
    this.#schedule()
  }

  #look(environment: SceneEnvironment): Changed | undefined {
    const { name } = environment
    const noted = this.#notes.of(environment)
    const now = this.#around.now()
    const seen = seenIn(environment, this.#scene, { now, isAsleep: this.#around.isAsleep() })
    const jobs = shownJobs(environment.objects.values(), now)
    if (!noted.isRecorded && seen.length === 0 && jobs.length === 0) return this.#remove(name)
    const whole = toDetails(this.#namespace, environment, { noted, seen, jobs, isCut: this.#scene.isCut }, service =>
      this.#explanations.of(name, service, noted),
    )
    const before = this.#published.get(name)
    if (before) this.#around.give(before.size)
    const published = this.#fitting(whole)
    this.#published.set(name, published)
    const { details, head, services: texts } = published
    const { services, state } = details
    if (before?.head !== head) return 'all'
    const changed = services.flatMap(({ name }) => (before.services.get(name) === texts.get(name) ? [] : [name]))
    return changed.length === 0 && before.details.state === state ? undefined : new Set(changed)
  }

  /**
   * Returns the part of an environment that fits into the budget. If the environment does not fit, omits the notes of
   * problems. If it still does not fit, omits all services and jobs. `isCut` is set if anything is omitted.
   */
  #fitting(whole: EnvironmentDetails): Published {
    const published = toPublished(whole)
    if (this.#hasRoom(published)) return published
    const short = toPublished({ ...whole, services: whole.services.map(withoutNotes), isCut: true })
    if (this.#hasRoom(short)) return short
    const { jobs: _, ...rest } = whole
    const cut = toPublished({ ...rest, services: [], isCut: true })
    return this.#hasRoom(cut) ? cut : { ...cut, size: 0 }
  }

  #hasRoom({ size }: Published): boolean {
    return size <= MOST_OF_ONE && this.#around.take(size)
  }

  #remove(name: string): Changed | undefined {
    this.#explanations.forget(name)
    this.#notes.forget(name)
    const known = this.#published.get(name)
    if (!known) return undefined
    this.#around.give(known.size)
    this.#published.delete(name)
    return 'all'
  }
}

function together(before: Changed | undefined, changed: Changed): Changed {
  if (before === 'all' || changed === 'all') return 'all'
  const names = new Set([...(before ?? []), ...changed])
  return names.size > MOST_CHANGED ? 'all' : names
}

const withoutNotes = (service: ShownService): ShownService => ({
  ...service,
  problems: service.problems.map(one => ({ ...one, notes: [] })),
})

function toPublished(details: EnvironmentDetails): Published {
  const { services, state: _, ...rest } = details
  // The services are in start order, which the environment's graph in the UI relies on.
  const head = JSON.stringify([rest, services.map(one => [one.name, one.dependsOn, one.place])])
  const texts = new Map(services.map(service => [service.name, JSON.stringify(service)]))
  const size = [...texts.values()].reduce((sum, text) => sum + text.length, head.length)
  return { details, head, services: texts, size }
}
