import { ClusterError, type KubeObject, type ObjectRef } from '../../adapters/kubernetes/cluster.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { mirror } from '../../constructs/mirror/mirror.ts'
import type { MirrorFacts, MirrorObject, MirrorSettings, User } from '../../constructs/mirror/settings.ts'
import type { OperationEvent } from '../events.ts'
import { isEnding } from '../objects/removal.ts'
import { UP_MANAGER, type UpRecord, upRecordOf, valueAt } from '../objects/up-record.ts'
import { nameOf } from '../objects/wanted.ts'
import type { Session } from '../session.ts'
import { ownersOf } from './fields.ts'
import { placeMirror } from './place-mirror.ts'
import { beforeUp, recordFor, restingPatch, scaleField } from './rest.ts'
import { needsUser, watchUser } from './watch-user.ts'

/** A mirror as it was placed, with what it was made of. */
export interface Kept {
  readonly settings: MirrorSettings
  readonly facts: MirrorFacts
  /** The application, then those beside it; the first is undefined for a container without one. */
  readonly lives: readonly (KubeObject | undefined)[]
  readonly records: readonly UpRecord[]
}

/** How often an application is scaled to zero again within a minute, before it counts as contested. */
const TIMES = 3
const MINUTE = 60_000

/**
 * Keeps a mirror in line with its application until the signal is aborted: a changed template gives
 * another mirror; who scales it up changes what `down` restores, and it is scaled to zero again,
 * not more often than `TIMES` a minute. Throws a UserError when the application was deleted, or
 * given back by somebody else.
 */
export async function watchOriginal(session: Session, kept: Kept, on: (event: OperationEvent) => void): Promise<void> {
  const keeper = new Keeper(session, kept, on)
  const ended = new AbortController()
  const signal = AbortSignal.any([session.signal, ended.signal])
  const watches = kept.lives.flatMap((live, index) =>
    live ? [follow({ ...session, signal }, live, index, keeper)] : [],
  )
  if (needsUser(kept.settings, kept.facts, kept.lives[0]))
    watches.push(watchUser({ ...session, signal }, kept.lives[0]!.metadata.name, user => keeper.found(user)))
  if (watches.length === 0) watches.push(untilAborted(signal))
  try {
    await Promise.all(watches)
  } catch (error) {
    if (!session.signal.aborted) throw error
  } finally {
    ended.abort()
  }
}

async function follow(session: Session, { apiVersion, kind, metadata }: KubeObject, index: number, keeper: Keeper) {
  const { cluster, namespace, signal } = session
  const ref: ObjectRef = { apiVersion, kind, name: metadata.name, namespace }
  const what = `${kind.toLowerCase()}/${metadata.name}`
  let isThere = false
  for await (const change of cluster.watch(
    { apiVersion, kind, namespace, fields: `metadata.name=${metadata.name}` },
    { signal },
  )) {
    if (change.type === 'Restarted') isThere = false
    else if (change.type === 'Listed' && !isThere) throw deleted(what)
    else if ('object' in change) {
      if (change.type === 'Deleted' || change.object.metadata.uid !== metadata.uid) throw deleted(what)
      isThere = true
      await keeper.changed(index, { ...change.object, apiVersion, kind }, ref)
    }
  }
}

/** Holds what a mirror is made of; one change after another. */
class Keeper {
  readonly #session: Session
  readonly #settings: MirrorSettings
  readonly #on: (event: OperationEvent) => void
  readonly #lives: (KubeObject | undefined)[]
  readonly #records: UpRecord[]
  /** When each application was scaled to zero again, in milliseconds since 1970. */
  readonly #scaled: number[][]
  #facts: MirrorFacts
  #placed: readonly string[]
  #last: Promise<void> = Promise.resolve()

  constructor(session: Session, { settings, facts, lives, records }: Kept, on: (event: OperationEvent) => void) {
    this.#session = session
    this.#settings = settings
    this.#facts = facts
    this.#lives = [...lives]
    this.#records = [...records]
    this.#scaled = lives.map(() => [])
    this.#on = on
    this.#placed = this.#wanted().map(object => JSON.stringify(object))
  }

  changed(index: number, live: KubeObject, ref: ObjectRef): Promise<void> {
    return this.#next(async () => {
      // Its end follows, with the reason.
      if (isEnding(live)) return
      const record = upRecordOf(live)
      if (!record || record.isRestored) throw givenBack(nameOf(live), this.#settings.name)
      this.#lives[index] = live
      this.#records[index] = record
      await this.#scale(index, live, ref)
      await this.#place()
    })
  }

  /** The user of the image is known now. */
  found(user: User): Promise<void> {
    return this.#next(async () => {
      this.#facts = { ...this.#facts, user }
      await this.#place()
    })
  }

  #next(work: () => Promise<void>): Promise<void> {
    const next = this.#last.then(work)
    this.#last = next.catch(() => undefined)
    return next
  }

  async #scale(index: number, live: KubeObject, ref: ObjectRef): Promise<void> {
    const { cluster, clock, signal } = this.#session
    const field = scaleField(live)
    if (valueAt(live, field.path) === field.value) return
    const now = clock.now()
    const recent = this.#scaled[index]!.filter(at => now - at < MINUTE)
    const by = ownersOf(live, [field.path])[0]?.manager ?? 'somebody'
    const name = nameOf(live)
    if (recent.length >= TIMES) {
      // Said once, until a minute has passed since.
      if (recent.length === TIMES) this.#on(contested(name, by))
      this.#scaled[index] = recent.length === TIMES ? [...recent, now] : recent
      return
    }
    const record = recordFor(live, about(this.#records[index]!))
    try {
      await cluster.patch(ref, restingPatch(live, record), { manager: UP_MANAGER, signal })
    } catch (error) {
      // Its newer version follows.
      if (error instanceof ClusterError && error.failure === 'conflict') return
      throw error
    }
    this.#scaled[index] = [...recent, now]
    this.#records[index] = record
    const number = valueAt(live, field.path)
    this.#on({
      type: 'note',
      text: `\`${by}\` has scaled \`${name}\`: \`devctl down\` restores ${JSON.stringify(number)}`,
    })
  }

  async #place(): Promise<void> {
    const wanted = this.#wanted()
    for (const [index, object] of wanted.entries()) {
      const text = JSON.stringify(object)
      if (text === this.#placed[index]) continue
      await placeMirror(this.#session, object, this.#records[index]!)
      this.#placed = this.#placed.with(index, text)
      this.#on({ type: 'object', action: 'update', object: `deployment/${object.metadata.name}` })
    }
  }

  #wanted(): readonly MirrorObject[] {
    const [main, ...beside] = this.#lives
    const { workload, services } = mirror(main, this.#settings, {
      ...this.#facts,
      services: beside.flatMap(one => (one ? beforeUp(one) : [])),
    })
    return [workload, ...services]
  }
}

function about({ version: _, before: __, owners: ___, original: ____, isRestored: _____, ...rest }: UpRecord) {
  return rest
}

const deleted = (what: string): UserError =>
  new UserError(`\`${what}\` was deleted, and its mirror with it`, { hint: '`devctl deploy` creates it again' })

const givenBack = (what: string, development: string): UserError =>
  new UserError(`\`${what}\` was restored: \`devctl down ${development}\` has ended the mirror`)

const contested = (what: string, by: string): OperationEvent => ({
  type: 'warning',
  text: `\`${by}\` scales \`${what}\` up again and again: it runs beside its mirror`,
  hint: `stop \`${by}\` from setting its number of Pods as long as \`up\` runs`,
})

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
