import { setImmediate } from 'node:timers/promises'
import type { Cluster } from '../../../adapters/kubernetes/cluster.ts'
import type { EnvironmentDetails, LiveEvent, ShownChanges, ShownService } from '../../api/environments.ts'
import { Explanations } from './explanations.ts'
import { historyOf, Notes } from './notes.ts'
import { type Room, Scene, type SceneEnvironment } from './scene.ts'
import { seenIn, toDetails } from './view.ts'

/** Milliseconds for which changes are collected: one Pod that starts causes several. */
const GATHERING = 40
/** The part of the time that computing states may take at most, unless that would delay changes by more milliseconds. */
const SHARE = 5
const LONGEST_PAUSE = 3000
/**
 * Milliseconds between two checks of services that are not ready: taking too long is a problem, too, and no event
 * reports it; nor does one report that the namespace has fallen asleep.
 */
const LOOKING = 5000
const LOOKED_AT: ReadonlySet<string> = new Set(['waiting', 'failed', 'stopped', 'asleep'])
/** Events that are queued for one client; if there are more, it gets the whole state again. */
const MOST_WAITING = 64

/** The last state that was sent, as text by service. */
interface Published {
  readonly details: EnvironmentDetails
  readonly head: string
  readonly services: ReadonlyMap<string, string>
  /** The characters of all this. */
  readonly size: number
}

/** What a view needs from its surroundings. */
interface ViewWorld extends Room {
  now(): number
  /** True while the namespace sleeps. */
  isAsleep(): boolean
}

/** The live view of a namespace with the rights of one user, shared by all viewers that have them. */
export class NamespaceView {
  readonly #namespace: string
  readonly #scene: Scene
  readonly #notes: Notes
  readonly #explanations: Explanations
  readonly #around: ViewWorld
  readonly #stop = new AbortController()
  readonly #dirty = new Set<string>()
  readonly #published = new Map<string, Published>()
  readonly #listeners = new Set<(event: LiveEvent) => void>()
  readonly #ready: Promise<void>
  #snapshot: LiveEvent | undefined
  #isListed = false
  /** The last computation that was begun. */
  #publishing: Promise<void> = Promise.resolve()
  #isPublishing = false
  #timer: NodeJS.Timeout | undefined
  #looking: NodeJS.Timeout | undefined
  #pause = GATHERING

  constructor(cluster: Cluster, namespace: string, around: ViewWorld) {
    this.#namespace = namespace
    this.#around = around
    const changed = (environment: string) => this.#mark(environment)
    this.#scene = new Scene(cluster, namespace, around, changed)
    this.#notes = new Notes(around)
    this.#explanations = new Explanations(cluster, changed)
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

  /** Aborted, with the reason, when the view has ended: it sends nothing more. */
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
  }

  /** The current state of all environments. Rejects with the error that ended the watches. */
  async environments(): Promise<readonly EnvironmentDetails[]> {
    await this.#ready
    await this.#publish()
    this.#stop.signal.throwIfAborted()
    return [...this.#published.values()].map(({ details }) => details)
  }

  /** The state of one environment, with the reasons of its failures; undefined if it does not exist. */
  async environment(name: string): Promise<EnvironmentDetails | undefined> {
    await this.environments()
    await this.#explanations.settled(name)
    return (await this.environments()).find(one => one.name === name)
  }

  /** The last deploys of an environment, the newest first; undefined if it does not exist. */
  async history(name: string): Promise<ShownChanges[] | undefined> {
    await this.environments()
    const environment = this.#scene.environment(name)
    return environment && this.#published.has(name) ? historyOf(environment) : undefined
  }

  /**
   * The state of all environments, then their changes, until the signal is aborted. Throws the error that ended the
   * view.
   */
  async *follow(signal: AbortSignal): AsyncGenerator<LiveEvent> {
    await this.#ready
    let waiting: LiveEvent[] = []
    let isBehind = true
    let wake = () => {}
    const listen = (event: LiveEvent) => {
      if (waiting.length < MOST_WAITING) waiting.push(event)
      else isBehind = true
      wake()
    }
    const both = AbortSignal.any([signal, this.#stop.signal])
    const onEnd = () => wake()
    both.addEventListener('abort', onEnd)
    this.#listeners.add(listen)
    try {
      for (;;) {
        if (signal.aborted) return
        this.#stop.signal.throwIfAborted()
        if (isBehind) {
          isBehind = false
          waiting = []
          yield await this.#whole()
          continue
        }
        const event = waiting.shift()
        if (event) yield event
        else
          await new Promise<void>(resolve => {
            wake = resolve
          })
      }
    } finally {
      this.#listeners.delete(listen)
      both.removeEventListener('abort', onEnd)
    }
  }

  /** Shared by all viewers that begin between two changes. */
  async #whole(): Promise<LiveEvent> {
    const environments = await this.environments()
    this.#snapshot ??= { type: 'snapshot', environments: [...environments] }
    return this.#snapshot
  }

  #mark(environment: string): void {
    this.#dirty.add(environment)
    this.#schedule()
  }

  /** Computes states after the pause, unless that is planned or under way. */
  #schedule(): void {
    if (this.#timer || this.#isPublishing || this.#dirty.size === 0) return
    if (!this.#isListed || this.#stop.signal.aborted) return
    this.#timer = setTimeout(() => this.#publish(), this.#pause)
  }

  #lookAgain(): void {
    for (const [name, { details }] of this.#published)
      if (details.services.some(({ state }) => LOOKED_AT.has(state))) this.#mark(name)
  }

  /** Resolves when all changes so far are computed. */
  #publish(): Promise<void> {
    this.#publishing = this.#publishing.then(() => this.#publishDirty()).catch((error: unknown) => this.end(error))
    return this.#publishing
  }

  /** One environment at a time: in between, the server does other work. */
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
      const event = environment ? this.#look(environment) : this.#remove(name)
      if (event) this.#snapshot = undefined
      if (event) for (const listener of this.#listeners) listener(event)
      worked += performance.now() - began
      await setImmediate()
    }
    this.#pause = Math.min(LONGEST_PAUSE, Math.max(GATHERING, SHARE * worked))
    this.#isPublishing = false
    this.#schedule()
  }

  #look(environment: SceneEnvironment): LiveEvent | undefined {
    const { name } = environment
    const noted = this.#notes.of(environment)
    const seen = seenIn(environment, this.#scene, {
      now: this.#around.now(),
      isAsleep: this.#around.isAsleep(),
    })
    if (!noted.isRecorded && seen.length === 0) return this.#remove(name)
    const whole = toDetails(this.#namespace, environment, noted, seen, this.#scene.isCut, service =>
      this.#explanations.of(name, service, noted),
    )
    const before = this.#published.get(name)
    if (before) this.#around.give(before.size)
    const published = this.#fitting(whole)
    this.#published.set(name, published)
    const { details, head, services: texts } = published
    const { services, state } = details
    if (before?.head !== head) return { type: 'environment', environment: details }
    const changed: ShownService[] = services.filter(
      service => before.services.get(service.name) !== texts.get(service.name),
    )
    if (changed.length === 0 && before.details.state === state) return undefined
    return { type: 'services', environment: name, state, services: changed }
  }

  /**
   * The part of an environment that fits into the budget. One that does not fit is sent without services, and says so.
   */
  #fitting(whole: EnvironmentDetails): Published {
    const published = toPublished(whole)
    if (this.#around.take(published.size)) return published
    const cut = toPublished({ ...whole, services: [], isCut: true })
    return this.#around.take(cut.size) ? cut : { ...cut, size: 0 }
  }

  #remove(name: string): LiveEvent | undefined {
    this.#explanations.forget(name)
    this.#notes.forget(name)
    const known = this.#published.get(name)
    if (!known) return undefined
    this.#around.give(known.size)
    this.#published.delete(name)
    return { type: 'removed', environment: name }
  }
}

function toPublished(details: EnvironmentDetails): Published {
  const { services, state: _, ...rest } = details
  // In the order of the plan, which the picture of the environment uses.
  const head = JSON.stringify([rest, services.map(one => [one.name, one.dependsOn, one.place])])
  const texts = new Map(services.map(service => [service.name, JSON.stringify(service)]))
  const size = [...texts.values()].reduce((sum, text) => sum + text.length, head.length)
  return { details, head, services: texts, size }
}
