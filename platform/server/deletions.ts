import { pause } from '../../adapters/http/back-off.ts'
import { ClusterError } from '../../adapters/kubernetes/cluster.ts'
import type { Member } from '../records/member.ts'
import { MANAGED_LABEL, rfc3339 } from '../records/names.ts'
import { type ManagedNamespace, STATUS, toNamespace } from '../records/namespace.ts'
import type { RunRecord } from '../records/run.ts'
import { decideDeletion } from '../rules/deletion.ts'
import { makeUlid } from '../rules/ulid.ts'
import { Attempts } from './attempts.ts'
import type { LeaderTask } from './leader.ts'
import type { Namespaces, SharedNamespace } from './namespaces.ts'
import { PlatformError } from './platform-error.ts'
import { readSaved } from './run-log.ts'
import type { Runs } from './runs.ts'
import type { Users } from './users.ts'
import type { PlatformWorld } from './world.ts'

const EVERY = 1000
/** Namespaces that are looked at together. */
const TOGETHER = 4
/** Characters of the words of a run that failed. */
const LONGEST = 300
/** Attempts to make a personal namespace anew. */
const ATTEMPTS = 5

/** A personal namespace that is emptied: what it is to be again. */
interface Emptied {
  readonly namespace: ManagedNamespace
  readonly members: readonly Member[]
}

/**
 * Deletes namespaces. What runs have deployed in them is destroyed first, by runs, for the commands of its
 * manifests; the leader sees to it, and all it knows is on the namespace. A personal namespace is made anew
 * when it is gone.
 */
export class NamespaceDeletions implements LeaderTask {
  readonly name = 'deletions'
  readonly everyMs = EVERY
  readonly #world: PlatformWorld
  readonly #parts: { readonly users: Users; readonly namespaces: Namespaces; readonly runs: Runs }
  /** By their names. */
  readonly #emptied = new Map<string, Emptied>()
  readonly #attempts: Attempts

  constructor(
    world: PlatformWorld,
    parts: { readonly users: Users; readonly namespaces: Namespaces; readonly runs: Runs },
  ) {
    this.#world = world
    this.#parts = parts
    this.#attempts = new Attempts(world, 'deleting')
  }

  /** Begins to delete a namespace, or tries it again, for somebody or nobody; forced, without the commands of what is deployed in it. */
  async begin({ namespace }: SharedNamespace, by?: string, isForced = false): Promise<void> {
    const { name, kind, status, deletion: before } = namespace
    const { now, random } = this.#world
    const goesOn = status === 'Deleting' && before && !(isForced && !before.isForced)
    const deletion = goesOn
      ? before
      : {
          id: makeUlid(now(), random(10)),
          ...(by !== undefined && { by }),
          ...(isForced && { isForced }),
        }
    if (!goesOn) await this.#parts.namespaces.noteDeletion(name, 'Deleting', deletion)
    // A personal one comes back: the leader is who remembers that.
    if (kind === 'personal') return
    // What has nothing to be destroyed is gone at once; else the leader tries again.
    const deleting = { ...namespace, status: 'Deleting', deletion } as const
    const step = () => this.#step(deleting).catch(() => false)
    // Runs that waited have ended as soon as they are cancelled.
    if (await step()) await step()
  }

  /** One look at what is to be deleted. */
  async run(signal: AbortSignal): Promise<void> {
    const labels = `${MANAGED_LABEL}=true,${STATUS}=Deleting`
    const found = await this.#world.cluster.list({ apiVersion: 'v1', kind: 'Namespace', labels }, { signal })
    const all = found.flatMap(one => {
      const namespace = toNamespace(one)
      return namespace ? [{ namespace, isGoing: one.metadata.deletionTimestamp !== undefined }] : []
    })
    const names = new Set(all.map(({ namespace }) => namespace.name))
    this.#attempts.keep(name => names.has(name) || this.#emptied.has(name))
    for (const { namespace } of all) await this.#attempts.at(namespace.name, signal, () => this.#remember(namespace))
    // A personal one goes no further before it is known what it has to be again.
    const isKnown = ({ kind, name }: ManagedNamespace) => kind !== 'personal' || this.#emptied.has(name)
    const waiting = all.flatMap(({ isGoing, namespace }) => (!isGoing && isKnown(namespace) ? [namespace] : []))
    for (let at = 0; at < waiting.length; at += TOGETHER)
      await Promise.all(
        waiting.slice(at, at + TOGETHER).map(one => this.#attempts.at(one.name, signal, () => this.#step(one, signal))),
      )
    for (const [name, emptied] of this.#emptied)
      if (!names.has(name)) await this.#attempts.at(name, signal, () => this.#comeBack(name, emptied, signal))
  }

  /** Does what is next; true: it has cancelled runs. */
  async #step(namespace: ManagedNamespace, signal?: AbortSignal): Promise<boolean> {
    const { namespaces, runs } = this.#parts
    const { name, uid, deletion } = namespace
    // Without an image for runs nothing was deployed by one that could be destroyed by one now.
    if (!deletion || deletion.isForced || !this.#world.settings.runs) {
      await namespaces.remove(namespace, signal)
      return false
    }
    const own = (await runs.list({ namespace: name }, signal)).filter(run => run.namespaceUid === uid)
    const { cancel, destroy, outcome } = decideDeletion(own, deletion.id)
    for (const { id } of cancel) await runs.stop(id, { why: 'cancelled', reason: 'the namespace is deleted' })
    for (const deployed of destroy) await runs.createLast(deployed, deletion)
    for (const run of own) if (run.deletion === deletion.id && run.state === 'queued') await runs.complete(run)
    if (outcome === 'gone') await namespaces.remove(namespace, signal)
    if (outcome === 'gone' || outcome === 'wait') return cancel.length > 0
    const problem = await this.#problemOf(outcome.failed, signal)
    await namespaces.noteDeletion(name, 'DeleteFailed', { ...deletion, problem })
    this.#world.log({ time: rfc3339(this.#world.now()), text: `deleting ${name}: ${problem}` })
    return false
  }

  /** Why a run failed, by its first line that says so. */
  async #problemOf(run: RunRecord, signal = AbortSignal.timeout(10_000)): Promise<string> {
    const { environment, state, found } = run
    let said = found.reason ?? `it was ${state}`
    if (found.log)
      for await (const { text } of readSaved(this.#world.cluster, run, found.log, signal)) {
        if (!/^error\b/.test(text)) continue
        said = text
        break
      }
    return `the destroy of ${environment} failed: ${said.slice(0, LONGEST)}`
  }

  /** What a personal namespace is to have again. */
  async #remember({ name, kind }: ManagedNamespace): Promise<void> {
    if (kind !== 'personal' || this.#emptied.has(name)) return
    const found = await this.#parts.namespaces.find(name)
    if (found) this.#emptied.set(name, found)
  }

  /** Makes a personal namespace anew that is gone, if it is still somebody's own. */
  async #comeBack(name: string, { namespace, members }: Emptied, signal: AbortSignal): Promise<void> {
    const { namespaces, users } = this.#parts
    const there = await namespaces.find(name)
    const owner = await users.find(namespace.owner)
    if (owner && owner.home === name && !there) {
      const made = await namespaces.create(owner, name, 'personal').catch(error => {
        // Somebody else was faster: the owner gets another one at the next login.
        if (error instanceof PlatformError) this.#emptied.delete(name)
        throw error
      })
      for (const { user: id, role } of members) {
        const user = await users.find(id)
        if (user && role !== 'owner') await again(() => namespaces.share(made, user, role), signal)
      }
    }
    this.#emptied.delete(name)
  }
}

/** The API server may not know yet that a namespace is there that was made a moment ago. */
async function again(work: () => Promise<void>, signal: AbortSignal): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof ClusterError) || attempt >= ATTEMPTS) throw error
      await pause(200, signal)
    }
  }
}
