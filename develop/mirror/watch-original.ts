import { pause } from '../../adapters/http/back-off.ts'
import { ClusterError, type KubeObject, type ObjectRef } from '../../adapters/kubernetes/cluster.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { detach } from '../../constructs/mirror/detach.ts'
import { imageOf, mirror } from '../../constructs/mirror/mirror.ts'
import { UP_ANNOTATION, UP_LABEL } from '../../constructs/mirror/names.ts'
import type {
  MirrorFacts,
  MirrorObject,
  MirrorObjects,
  MirrorSettings,
  User,
} from '../../constructs/mirror/settings.ts'
import { applyToStay, isEnding } from '../../environment/apply/removal.ts'
import { unlessForbidden } from '../../environment/forbidden.ts'
import { nameOf } from '../../environment/plan/desired-state.ts'
import { isEndedByDown, readUpRecord, UP_MANAGER, type UpRecord, valueAt } from '../../environment/record/up-record.ts'
import type { CommonEvent } from '../../project/events.ts'
import type { Session } from '../../project/session.ts'
import { needsUser, watchUser } from '../files/watch-user.ts'
import { retryTransient } from '../retry-transient.ts'
import { Credentials } from '../session/credentials.ts'
import { RateLimiter } from '../session/rate-limiter.ts'
import { ownersOf } from './fields.ts'
import { mirrorQuery } from './find-mirror.ts'
import { placeMirror } from './place-mirror.ts'
import { beforeUp, recordFor, restingPatch, scaleField } from './suspend-original.ts'

/** A mirror as it was applied, with the input it was generated from. */
export interface Kept {
  readonly settings: MirrorSettings
  readonly facts: MirrorFacts
  /**
   * The main application, followed by the applications of `services`; the first is undefined for a container without an
   * application.
   */
  readonly lives: readonly (KubeObject | undefined)[]
  readonly records: readonly UpRecord[]
  /** Mirrors as returned by the cluster. */
  readonly placed: readonly KubeObject[]
  /**
   * Returns true if this session still holds the application. Called before a value is set again, because another user
   * may just have taken the application over and changed the value.
   */
  readonly isHeld: () => Promise<boolean>
  /**
   * Returns the settings for the application after its image has changed, because the new image has its own program.
   */
  readonly settingsOf?: (live: KubeObject) => Promise<MirrorSettings>
}

/**
 * Maximum number of times within a minute that an application is scaled to zero again. After that, it counts as
 * contested.
 */
const TIMES = 3
const MINUTE = 60_000
/** Time that `down` may need to restore an application after its mirror was deleted, in milliseconds. */
const RESTORING = 5000

const MIRRORS = { apiVersion: 'apps/v1', kind: 'Deployment' } as const

/**
 * Keeps a mirror in line with its application until the signal is aborted. If the template changes, updates the mirror.
 * If the application is scaled up, records the new scale for `down` and scales the application to zero again, at most
 * `TIMES` times a minute. Restores a corrupted record and recreates a deleted mirror, also at most `TIMES` times a
 * minute. Retries without a limit while the cluster cannot be reached or refuses the credentials. Throws a UserError if
 * the application was deleted, or restored by `down`.
 */
export async function watchOriginal(
  session: Session,
  kept: Kept,
  on: (event: CommonEvent) => void,
  credentials = new Credentials(on),
): Promise<void> {
  const keeper = new Keeper(session, kept, on)
  const ended = new AbortController()
  const signal = AbortSignal.any([session.signal, ended.signal])
  const own = { ...session, signal }
  const last = (work: (heard: () => void) => Promise<void>) => retryTransient(work, credentials, signal)
  const watches = kept.lives.flatMap((live, index) =>
    live ? [last(heard => follow(own, live, index, keeper, heard))] : [],
  )
  watches.push(last(heard => followMirrors(own, kept.settings.name, keeper, heard)))
  for (const one of keeper.needed)
    watches.push(
      unlessForbidden(
        last(heard => followNeeded(own, one, keeper, heard)),
        undefined,
      ),
    )
  if (needsUser(kept.settings, kept.facts, kept.lives[0]))
    watches.push(last(() => watchUser(own, kept.lives[0]!.metadata.name, user => keeper.found(user))))
  try {
    await Promise.all(watches)
  } catch (error) {
    if (!session.signal.aborted) throw error
  } finally {
    ended.abort()
  }
}

async function follow(
  session: Session,
  { apiVersion, kind, metadata }: KubeObject,
  index: number,
  keeper: Keeper,
  heard: () => void,
): Promise<void> {
  const { cluster, namespace, signal } = session
  const ref: ObjectRef = { apiVersion, kind, name: metadata.name, namespace }
  const what = `${kind.toLowerCase()}/${metadata.name}`
  let isThere = false
  for await (const change of cluster.watch(
    { apiVersion, kind, namespace, fields: `metadata.name=${metadata.name}` },
    { signal },
  )) {
    heard()
    if (change.type === 'Restarted') isThere = false
    else if (change.type === 'Listed' && !isThere) throw deleted(what)
    else if ('object' in change) {
      if (change.type === 'Deleted' || change.object.metadata.uid !== metadata.uid) throw deleted(what)
      isThere = true
      await keeper.changed(index, { ...change.object, apiVersion, kind }, ref)
    }
  }
}

/**
 * Reports changed and deleted mirrors to the keeper, except mirrors that `down` has deleted, which are marked in their
 * records.
 */
async function followMirrors(
  { cluster, namespace, signal }: Session,
  dev: string,
  keeper: Keeper,
  heard: () => void,
): Promise<void> {
  let there = new Set<string>()
  for await (const change of cluster.watch(mirrorQuery(namespace, dev), { signal })) {
    heard()
    if (change.type === 'Restarted') there = new Set()
    else if (change.type === 'Listed') {
      const missing = keeper.names.flatMap((name, index) => (there.has(name) ? [] : [index]))
      // The watch does not show who deleted the mirrors, so a `down` gets the time to restore the applications.
      if (missing.length > 0) await pause(RESTORING, signal)
      for (const index of missing) await keeper.gone(index)
    } else if ('object' in change) {
      const { name } = change.object.metadata
      const index = keeper.names.indexOf(name)
      if (change.type === 'Changed') {
        there.add(name)
        if (index !== -1) await keeper.edited(index, change.object)
      } else if (index !== -1 && !isEndedByDown(change.object)) await keeper.gone(index)
    }
  }
}

/** Reports a deleted Secret or claim to the keeper, because the next Pod could not start without it. */
async function followNeeded(
  { cluster, namespace, signal }: Session,
  needed: MirrorObject,
  keeper: Keeper,
  heard: () => void,
): Promise<void> {
  const { apiVersion, kind, metadata } = needed
  let isThere = false
  const query = { apiVersion, kind, namespace, fields: `metadata.name=${metadata.name}` }
  for await (const change of cluster.watch(query, { signal })) {
    heard()
    if (change.type === 'Restarted') isThere = false
    else if (change.type === 'Changed') isThere = true
    else if (change.type === 'Deleted' || !isThere) await keeper.missing(needed)
  }
}

/** Keeps mirrors and their applications in the intended state, and handles one change after another. */
class Keeper {
  readonly #session: Session
  readonly #settingsOf: Kept['settingsOf']
  readonly #isHeld: Kept['isHeld']
  readonly #on: (event: CommonEvent) => void
  readonly #lives: (KubeObject | undefined)[]
  readonly #records: UpRecord[]
  /** Times at which each application was scaled to zero again, in milliseconds since 1970. */
  readonly #scaled: number[][]
  /** Rate limiters for rewriting the record of each application, and for recreating each mirror. */
  readonly #written: readonly RateLimiter[]
  readonly #made: readonly RateLimiter[]
  /** Rate limiters for undoing changes to each mirror, and the generation of each mirror after the last undo. */
  readonly #mended: readonly RateLimiter[]
  readonly #generations: (number | undefined)[]
  #settings: MirrorSettings
  #facts: MirrorFacts
  #placed: readonly string[]
  /** Parts of each record that were last written to its mirror, as JSON. A difference causes a new write. */
  #noted: readonly string[]
  #last: Promise<void> = Promise.resolve()

  constructor(
    session: Session,
    { settings, facts, lives, records, placed, isHeld, settingsOf }: Kept,
    on: (event: CommonEvent) => void,
  ) {
    this.#session = session
    this.#settings = settings
    this.#settingsOf = settingsOf
    this.#isHeld = isHeld
    this.#facts = facts
    this.#lives = [...lives]
    this.#records = [...records]
    this.#scaled = lives.map(() => [])
    this.#written = lives.map(() => new RateLimiter(TIMES, MINUTE))
    this.#made = lives.map(() => new RateLimiter(TIMES, MINUTE))
    this.#mended = lives.map(() => new RateLimiter(TIMES, MINUTE))
    this.#generations = placed.map(generationOf)
    this.#on = on
    this.#placed = this.#wanted().map(object => JSON.stringify(object))
    this.#noted = records.map(noted)
  }

  /** Returns the names of the mirrors. */
  get names(): readonly string[] {
    return this.#wanted().map(({ metadata }) => metadata.name)
  }

  changed(index: number, live: KubeObject, ref: ObjectRef): Promise<void> {
    return this.#next(async () => {
      // A later event reports the deletion, with the reason.
      if (isEnding(live)) return
      const found = readUpRecord(live)
      const isLost = found.kind === 'unreadable' || (found.kind === 'none' && isLabelled(live))
      if (isLost) return this.#putBack(index, live, ref)
      if (found.kind !== 'record' || found.record.isRestored) throw givenBack(nameOf(live), this.#settings.name)
      if (index === 0) await this.#takeImage(live)
      this.#lives[index] = live
      this.#records[index] = found.record
      await this.#scale(index, live, ref)
      await this.#place()
    })
  }

  /** Recreates a mirror that was deleted manually, unless `down` or another user's `up` is in progress. */
  gone(index: number): Promise<void> {
    return this.#next(async () => {
      const { cluster, namespace, clock, signal } = this.#session
      const wanted = this.#wanted()[index]!
      const { name } = wanted.metadata
      const live = this.#lives[index]
      const own = this.#records[index]!
      const [there, original] = await Promise.all([
        cluster.get({ ...MIRRORS, name, namespace }, { signal }),
        live && cluster.get({ ...live, ...live.metadata, namespace }, { signal }),
      ])
      if (there && !isEnding(there)) return
      if (live && !isStillTaken(original, live, own)) return
      if (!(await this.#isHeld())) return
      if (!this.#made[index]!.may(clock.now())) throw deletedAgain(name, this.#settings.name)
      this.#generations[index] = generationOf(await placeMirror(this.#session, wanted, own))
      this.#made[index]!.done(clock.now())
      this.#on({ type: 'note', text: `\`deployment/${name}\` was deleted: it was made again` })
      // Required objects that were deleted while no mirror existed have not been recreated yet.
      for (const one of this.needed) {
        const { apiVersion, kind, metadata } = one
        if (!(await cluster.get({ apiVersion, kind, name: metadata.name, namespace }, { signal })))
          await this.#make(one)
      }
    })
  }

  /** Undoes changes to a mirror in the fields that `up` sets. Fields that others have added are kept. */
  edited(index: number, seen: KubeObject): Promise<void> {
    return this.#next(async () => {
      const { cluster, namespace, clock, signal } = this.#session
      const { name } = seen.metadata
      if (!isNewer(seen, this.#generations[index])) return
      const live = await cluster.get({ ...MIRRORS, name, namespace }, { signal })
      // A later event reports the deletion.
      if (!live || isEnding(live) || isEndedByDown(live) || !(await this.#isHeld())) return
      if (!this.#mended[index]!.may(clock.now())) {
        this.#generations[index] = generationOf(live)
        this.#on(changedAgain(name, lastEditor(live)))
        return
      }
      const placed = await placeMirror(this.#session, this.#wanted()[index]!, this.#records[index]!)
      this.#generations[index] = generationOf(placed)
      if (!isNewer(placed, generationOf(live))) return
      this.#mended[index]!.done(clock.now())
      const text = `${lastEditor(live)} has changed \`deployment/${name}\`: what \`up\` sets in it was set again; change the original, or \`dev\` of the manifest`
      this.#on({ type: 'note', text })
    })
  }

  /** Returns the Secret and the claim of the mirror. */
  get needed(): readonly MirrorObject[] {
    const { secret, claim } = this.#objects()
    return claim ? [secret, claim] : [secret]
  }

  /**
   * Recreates an object that the Pods of the mirror need. While the mirror exists, only a user can have deleted the
   * object.
   */
  missing(needed: MirrorObject): Promise<void> {
    return this.#next(async () => {
      const { cluster, namespace, signal } = this.#session
      const place = { ...MIRRORS, name: this.names[0]!, namespace }
      const mirror = await cluster.get(place, { signal })
      if (!mirror || isEnding(mirror) || isEndedByDown(mirror) || !(await this.#isHeld())) return
      await this.#make(needed)
    })
  }

  async #make(needed: MirrorObject): Promise<void> {
    const { cluster, signal } = this.#session
    await applyToStay(cluster, needed as KubeObject, { manager: UP_MANAGER, force: true, signal }) // it has a name
    this.#on({ type: 'note', text: `\`${nameOf(needed as KubeObject)}\` was deleted: it was made again` })
  }

  /** Updates the mirror once the user of the image is known. */
  found(user: User): Promise<void> {
    return this.#next(async () => {
      this.#facts = { ...this.#facts, user }
      await this.#place()
    })
  }

  /**
   * Reads the settings again if the image has changed, for example by a rebuild, because the new image has its own
   * program.
   */
  async #takeImage(live: KubeObject): Promise<void> {
    const [before] = this.#lives
    const imageIn = (one: KubeObject) => imageOf(detach(one, this.#settings), this.#settings)
    const isOther = before && imageIn(before) !== imageIn(live)
    if (!isOther || !this.#settingsOf) return
    // The files of the volume keep the user for whom it was filled, and so do the containers that fill it.
    this.#settings = await this.#settingsOf(live)
  }

  #next(work: () => Promise<void>): Promise<void> {
    const next = this.#last.then(work)
    this.#last = next.catch(() => undefined)
    return next
  }

  /** Restores a record that was corrupted or removed, because `down` cannot restore the application without it. */
  async #putBack(index: number, live: KubeObject, ref: ObjectRef): Promise<void> {
    const { cluster, clock, signal } = this.#session
    if (!this.#written[index]!.may(clock.now()) || !(await this.#isHeld())) return
    const { resourceVersion } = live.metadata
    const annotations = { [UP_ANNOTATION]: JSON.stringify(this.#records[index]) }
    try {
      await cluster.patch(ref, { metadata: { resourceVersion, annotations } }, { manager: UP_MANAGER, signal })
    } catch (error) {
      // A later event reports the newer version.
      if (error instanceof ClusterError && error.failure === 'conflict') return
      throw error
    }
    this.#written[index]!.done(clock.now())
    const text = `somebody has changed the annotation \`${UP_ANNOTATION}\` of \`${nameOf(live)}\`, by which \`devctl down\` restores it: it was written again`
    this.#on({ type: 'note', text })
  }

  async #scale(index: number, live: KubeObject, ref: ObjectRef): Promise<void> {
    const { cluster, clock, signal } = this.#session
    const field = scaleField(live)
    if (valueAt(live, field.path) === field.value || !(await this.#isHeld())) return
    const now = clock.now()
    const recent = this.#scaled[index]!.filter(at => now - at < MINUTE)
    const by = ownersOf(live, [field.path])[0]?.manager ?? 'somebody'
    const name = nameOf(live)
    if (recent.length >= TIMES) {
      // Report this once, and again only after a minute.
      if (recent.length === TIMES) this.#on(contested(name, by))
      this.#scaled[index] = recent.length === TIMES ? [...recent, now] : recent
      return
    }
    const record = recordFor(live, about(this.#records[index]!))
    try {
      await cluster.patch(ref, restingPatch(live, record), { manager: UP_MANAGER, signal })
    } catch (error) {
      // A later event reports the newer version.
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
      const note = noted(this.#records[index]!)
      const isSame = text === this.#placed[index]
      if (isSame && note === this.#noted[index]) continue
      if (!(await this.#isHeld())) return
      this.#generations[index] = generationOf(await placeMirror(this.#session, object, this.#records[index]!))
      this.#placed = this.#placed.with(index, text)
      this.#noted = this.#noted.with(index, note)
      if (!isSame) this.#on({ type: 'object', action: 'update', object: `deployment/${object.metadata.name}` })
    }
  }

  #wanted(): readonly MirrorObject[] {
    const { workload, services } = this.#objects()
    return [workload, ...services]
  }

  #objects(): MirrorObjects {
    const [main, ...beside] = this.#lives
    const services = beside.flatMap(one => (one ? beforeUp(one) : []))
    return mirror(main, this.#settings, { ...this.#facts, services })
  }
}

function about({ version: _, before: __, owners: ___, original: ____, isRestored: _____, ...rest }: UpRecord) {
  return rest
}

const isLabelled = ({ metadata }: KubeObject): boolean => metadata.labels?.[UP_LABEL] !== undefined

/** Returns the generation of an object, which the API server increments on each change of its spec. */
const generationOf = ({ metadata }: KubeObject): number | undefined => metadata.generation

const isNewer = (live: KubeObject, than: number | undefined): boolean => (generationOf(live) ?? 0) > (than ?? 0)

/**
 * Returns the name of the field manager that last changed an object, for a message. Ignores `up`, and managers that
 * write only the status, such as controllers. Returns `somebody` if no other manager is recorded.
 */
function lastEditor({ metadata }: KubeObject): string {
  const others = (metadata.managedFields ?? []).filter(
    ({ manager, subresource }) => manager !== UP_MANAGER && subresource !== 'status',
  )
  const last = [...others].sort((a, b) => Date.parse(a.time ?? '') - Date.parse(b.time ?? '')).at(-1)
  return last ? `\`${last.manager}\`` : 'somebody'
}

/** Returns the parts of a record that `down` needs, as JSON. */
const noted = ({ before, owners, paused }: UpRecord): string => JSON.stringify({ before, owners, paused })

/** True if an application is still in the state in which this `up` left it. Its record may have been corrupted. */
function isStillTaken(now: KubeObject | undefined, { metadata: { uid } }: KubeObject, own: UpRecord): boolean {
  if (!now || now.metadata.uid !== uid || isEnding(now)) return false
  const found = readUpRecord(now)
  return found.kind === 'record' ? !found.record.isRestored && found.record.by === own.by : isLabelled(now)
}

const deletedAgain = (name: string, development: string): UserError =>
  new UserError(`\`deployment/${name}\` was deleted more than ${TIMES} times in a minute`, {
    notes: ['somebody, or another tool, deletes the mirror whenever it is made again'],
    hint: `\`devctl up ${development}\` goes on, \`devctl down ${development}\` restores the original`,
  })

const changedAgain = (name: string, by: string): CommonEvent => ({
  type: 'warning',
  text: `${by} changes \`deployment/${name}\` again and again: it stays as it is now`,
  hint: `stop ${by} from changing mirrors as long as \`up\` runs`,
})

const deleted = (what: string): UserError =>
  new UserError(`\`${what}\` was deleted, and its mirror with it`, { hint: '`devctl deploy` creates it again' })

const givenBack = (what: string, development: string): UserError =>
  new UserError(`\`${what}\` was restored: \`devctl down ${development}\` has ended the mirror`)

const contested = (what: string, by: string): CommonEvent => ({
  type: 'warning',
  text: `\`${by}\` scales \`${what}\` up again and again: it runs beside its mirror`,
  hint: `stop \`${by}\` from setting its number of Pods as long as \`up\` runs`,
})
