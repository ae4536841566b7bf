import { type DeliveryRecord, type HookRecord, MOST_LOOKS } from '../../records/hook.ts'
import { rfc3339 } from '../../records/names.ts'
import { Limiter } from '../../rules/accounts/limiter.ts'
import { deliveryKeys, eventOf, remember } from '../../rules/previews/deliveries.ts'
import { readHook } from '../../rules/previews/webhook-payload.ts'
import { isSigned, type SentHook } from '../../rules/previews/webhook-signature.ts'
import type { ServerContext } from '../context.ts'
import { PlatformError } from '../http/platform-error.ts'
import type { Hooks } from './hooks.ts'

/**
 * Rate limit for deliveries about one pull request, because each accepted delivery causes a write, and the author of
 * the pull request can cause any number of them.
 */
const OF_REQUEST = { burst: 60, every: 2000, keys: 10_000 }
/**
 * Rate limit for the deliveries of one webhook. Pull requests from the repository itself are counted separately from
 * all others, so that outsiders who open many pull requests do not block them.
 */
const OF_HOOK = { burst: 200, every: 1000, keys: 10_000 }
/**
 * Rate limit for recording unsigned deliveries of one webhook, because anyone who knows the address of the webhook can
 * send them.
 */
const UNSIGNED = { burst: 1, every: 60_000, keys: 10_000 }
/** Minimum time between two writes of ignored or refused deliveries of one webhook, in milliseconds. */
const EVERY = 5000

/** The fields of a delivery record that are known before the delivery is processed. */
type About = Pick<DeliveryRecord, 'time' | 'event'>

/**
 * Accepts deliveries of webhooks, and records the last one of each webhook. An accepted delivery is recorded by the
 * write that queues its pull request. Other deliveries are recorded at most every few seconds, so that a flood of
 * deliveries does not become a flood of writes.
 */
export class HookDeliveries {
  readonly #world: Pick<ServerContext, 'now' | 'log'>
  readonly #hooks: Pick<Hooks, 'secretOf' | 'change' | 'find' | 'noteDelivery' | 'noteUnsigned'>
  readonly #every: number
  readonly #ofRequest = new Limiter(OF_REQUEST)
  readonly #ofHook = new Limiter(OF_HOOK)
  readonly #unsigned = new Limiter(UNSIGNED)
  /**
   * Webhooks for which a delivery was written a moment ago, by id. `next` is the delivery to write after the pause, if
   * there is one.
   */
  readonly #written = new Map<string, { next?: DeliveryRecord | undefined }>()

  constructor(
    world: Pick<ServerContext, 'now' | 'log'>,
    hooks: Pick<Hooks, 'secretOf' | 'change' | 'find' | 'noteDelivery' | 'noteUnsigned'>,
    every = EVERY,
  ) {
    this.#world = world
    this.#hooks = hooks
    this.#every = every
  }

  /**
   * Processes a delivery. `note` receives the details for the audit log. Throws a PlatformError if the delivery is
   * refused.
   */
  async take(
    hook: HookRecord,
    raw: SentHook,
    note: (what: Readonly<Record<string, string>>) => void = () => {},
  ): Promise<void> {
    const secret = this.#hooks.secretOf(hook)
    if (secret === undefined || !isSigned(hook.forge, secret, raw, this.#world.now())) {
      // If the signing secret cannot be opened, the platform cannot tell whether a delivery is signed, so nothing is
      // recorded.
      if (secret !== undefined) await this.#noteUnsigned(hook)
      throw new PlatformError(401, 'signature', 'the delivery is not signed with the secret of the webhook', {
        hint: 'at the forge, set the secret that `devctl preview hook add` printed',
      })
    }
    const event = eventOf(hook.forge, raw)
    const about = { time: rfc3339(this.#world.now()), ...(event !== undefined && { event }) }
    try {
      const isAccepted = await this.#accept(hook, raw, about, note)
      if (!isAccepted)
        await this.#note(hook.id, { ...about, result: 'ignored', reason: 'it is not about a pull request' })
    } catch (error) {
      if (error instanceof PlatformError && error.status < 500) {
        const result = error.body.code === 'platform/replayed' ? 'ignored' : 'refused'
        await this.#note(hook.id, { ...about, result, reason: error.message })
      }
      throw error
    }
  }

  /**
   * Queues the pull request of a delivery. Returns false for an event that is not about a pull request. Throws a
   * PlatformError.
   */
  async #accept(
    hook: HookRecord,
    raw: SentHook,
    about: About,
    note: (what: Readonly<Record<string, string>>) => void,
  ): Promise<boolean> {
    const read = readHook(hook.forge, raw.body)
    if (read.kind === 'other') return false
    if (read.kind === 'invalid') throw new PlatformError(400, 'request', `the delivery is not valid: ${read.problem}`)
    const { number, repository } = read
    note({ number: String(number), repository: repository.slice(0, 40) })
    if (repository !== hook.repositoryId)
      throw new PlatformError(403, 'other-repository', 'the delivery is from a different repository than the webhook', {
        hint: 'add a webhook for that repository: `devctl preview hook add`',
      })
    this.#count(hook, number)
    let isNew = false
    let hasRoom = true
    await this.#hooks.change(hook.id, ({ look, pulls, seen: before }) => {
      const seen = remember(before, deliveryKeys(hook.forge, raw))
      isNew = seen !== undefined
      const others = look.filter(one => one !== number)
      hasRoom = others.length < MOST_LOOKS
      const lastDelivery = { ...about, result: 'accepted', number } as const
      return seen && hasRoom ? { look: [...others, number], pulls, seen, lastDelivery } : undefined
    })
    if (!hasRoom) throw tooMany(60_000)
    if (!isNew) throw new PlatformError(409, 'replayed', 'this delivery was already received')
    // Drops an earlier delivery that is still to be written: it would replace this one.
    const written = this.#written.get(hook.id)
    if (written) written.next = undefined
    return true
  }

  /**
   * Counts a delivery. Throws a PlatformError if there were too many deliveries about this pull request, or about all
   * pull requests of its group. The pull requests from the repository itself are one group, all others are a second
   * group.
   */
  #count({ id, pulls }: HookRecord, number: number): void {
    const now = performance.now()
    const isOwn = pulls.some(one => one.number === number && one.trust === 'repository')
    const wait =
      this.#ofRequest.take(`${id} ${number}`, now) || this.#ofHook.take(`${id} ${isOwn ? 'own' : 'others'}`, now)
    if (wait > 0) throw tooMany(wait)
  }

  /** Records a delivery, immediately or when the pause after the last write is over. */
  async #note(id: string, delivery: DeliveryRecord): Promise<void> {
    const written = this.#written.get(id)
    if (written) written.next = delivery
    else await this.#write(id, delivery)
  }

  async #write(id: string, delivery: DeliveryRecord): Promise<void> {
    this.#written.set(id, {})
    this.#pause(id)
    await this.#orLog(id, this.#hooks.noteDelivery(id, delivery))
  }

  #pause(id: string): void {
    setTimeout(() => void this.#writeNext(id), this.#every).unref()
  }

  async #writeNext(id: string): Promise<void> {
    const written = this.#written.get(id)
    const next = written?.next
    if (!written || !next) return void this.#written.delete(id)
    written.next = undefined
    this.#pause(id)
    await this.#orLog(id, this.#unlessOlder(id, next))
  }

  /** Writes a delivery, unless the webhook was removed or another replica has recorded a later delivery. */
  async #unlessOlder(id: string, delivery: DeliveryRecord): Promise<void> {
    const hook = await this.#hooks.find(id)
    const last = hook?.lastDelivery
    if (!hook || (last && Date.parse(last.time) > Date.parse(delivery.time))) return
    await this.#hooks.noteDelivery(id, delivery)
  }

  /** Records only the time of an unsigned delivery, because anyone could have sent the delivery. */
  async #noteUnsigned({ id, lastUnsigned }: HookRecord): Promise<void> {
    const now = this.#world.now()
    // Another replica may have recorded an unsigned delivery a moment ago.
    if (lastUnsigned !== undefined && Math.abs(now - Date.parse(lastUnsigned)) < UNSIGNED.every) return
    if (this.#unsigned.take(id, now) > 0) return
    await this.#orLog(id, this.#hooks.noteUnsigned(id, rfc3339(now)))
  }

  /**
   * Waits for a write and logs its failure, because the result of a delivery does not depend on whether it could be
   * recorded.
   */
  async #orLog(id: string, writing: Promise<void>): Promise<void> {
    await writing.catch(error => {
      const message = error instanceof Error ? error.message : String(error)
      const text = `webhook ${id}: the last delivery was not recorded: ${message}`
      this.#world.log({ time: rfc3339(this.#world.now()), text: text.slice(0, 300) })
    })
  }
}

const tooMany = (wait: number): PlatformError =>
  new PlatformError(429, 'too-many', 'too many deliveries', { hint: `try again in ${Math.ceil(wait / 1000)} s` })
