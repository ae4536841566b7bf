import { isDeepStrictEqual } from 'node:util'
import { pause } from '../../../adapters/http/back-off.ts'
import { ClusterError } from '../../../adapters/kubernetes/cluster.ts'
import type { Deletion } from '../../records/deletion.ts'
import type { EmptiedNamespace } from '../../records/emptied.ts'
import type { Member } from '../../records/member.ts'
import { MANAGED_LABEL, rfc3339 } from '../../records/names.ts'
import { type ManagedNamespace, STATUS, toNamespace } from '../../records/namespace.ts'
import type { RunRecord } from '../../records/run.ts'
import { decideDeletion } from '../../rules/runs/deletion.ts'
import { makeUlid } from '../../rules/ulid.ts'
import type { ServerContext } from '../context.ts'
import { PlatformError } from '../http/platform-error.ts'
import { Attempts } from '../leader/attempts.ts'
import type { LeaderTask } from '../leader/leader.ts'
import type { Users } from '../login/users.ts'
import { readSaved } from '../runs/run-log.ts'
import type { Runs } from '../runs/runs.ts'
import { EmptiedNamespaces } from './emptied-namespaces.ts'
import { deleteHeldObjects } from './held-objects.ts'
import type { Members } from './members.ts'
import type { Namespaces } from './namespaces.ts'
import type { SharedNamespace } from './shared-namespace.ts'

const EVERY = 1000
/** Maximum number of namespaces that are processed at the same time. */
const TOGETHER = 4
/** Maximum length of a failed run's message in characters. */
const LONGEST = 300
/** Maximum number of attempts to restore a member of a recreated personal namespace. */
const ATTEMPTS = 5
/**
 * Interval between two reads of the records of personal namespaces that are being emptied, in milliseconds. An earlier
 * leader may have left such records.
 */
const READ = 30_000
/** Interval between two checks of objects whose finalizers other programs have to remove, in milliseconds. */
const LOOK = 3000

interface Parts {
  readonly users: Users
  readonly namespaces: Namespaces
  readonly members: Members
  readonly runs: Runs
}

interface BeginOptions {
  /** Id of the user who deletes the namespace; absent if the platform does. */
  readonly by?: string
  /** True if the commands of its deploys are not run. */
  readonly isForced?: boolean
  /** Resource version of the Namespace. If it has changed, the deletion fails with `conflict`. Default: any version. */
  readonly version?: string | undefined
}

/**
 * Deletes namespaces. Environments that runs have deployed are first destroyed by runs, because their manifests can
 * contain commands that run on destroy. The leader does the work, and stores its state on the Namespace. A personal
 * namespace is recreated after it is deleted.
 */
export class NamespaceDeletions implements LeaderTask {
  readonly name = 'deletions'
  readonly everyMs = EVERY
  readonly #world: ServerContext
  readonly #parts: Parts
  readonly #records: EmptiedNamespaces
  /**
   * Personal namespaces that are being emptied, by name. The stored records may contain later changes of the members.
   */
  readonly #emptied = new Map<string, EmptiedNamespace>()
  /**
   * Time in milliseconds since 1970 of the last check for objects with finalizers of other programs, by the id of the
   * deletion.
   */
  readonly #looked = new Map<string, number>()
  #readAt = Number.NEGATIVE_INFINITY
  readonly #attempts: Attempts

  constructor(world: ServerContext, parts: Parts) {
    this.#world = world
    this.#parts = parts
    this.#records = new EmptiedNamespaces(world)
    this.#attempts = new Attempts(world, 'deleting')
  }

  /** Starts or retries the deletion of a namespace. */
  async begin({ namespace }: SharedNamespace, { by, isForced = false, version }: BeginOptions = {}): Promise<void> {
    const { kind, status, deletion: before } = namespace
    const { now, random } = this.#world
    const goesOn = status === 'Deleting' && before && !(isForced && !before.isForced)
    const deletion = goesOn
      ? before
      : {
          id: makeUlid(now(), random(10)),
          ...(by !== undefined && { by }),
          ...(isForced && { isForced }),
        }
    if (!goesOn) await this.#parts.namespaces.noteDeletion(namespace, 'Deleting', deletion, version)
    // A personal namespace is recreated, so the leader first records its members.
    if (kind === 'personal') return
    // If there is nothing to destroy, the namespace is deleted immediately; otherwise the leader continues.
    const deleting = { ...namespace, status: 'Deleting', deletion } as const
    const step = () => this.#step(deleting).catch(() => false)
    // Cancelled queued runs end immediately, so a second step may already delete the namespace.
    if (await step()) await step()
  }

  /** Makes one pass over the namespaces that are being deleted. */
  async run(signal: AbortSignal): Promise<void> {
    await this.#readEmptied(signal)
    const labels = `${MANAGED_LABEL}=true,${STATUS}=Deleting`
    const found = await this.#world.cluster.list({ apiVersion: 'v1', kind: 'Namespace', labels }, { signal })
    const all = found.flatMap(one => {
      const namespace = toNamespace(one)
      return namespace ? [{ namespace, isGoing: one.metadata.deletionTimestamp !== undefined }] : []
    })
    const names = new Set(all.map(({ namespace }) => namespace.name))
    const uids = new Set(all.map(({ namespace }) => namespace.uid))
    this.#attempts.keep(name => names.has(name) || this.#emptied.has(name))
    const ids = new Set(all.map(({ namespace }) => namespace.deletion?.id))
    for (const id of this.#looked.keys()) if (!ids.has(id)) this.#looked.delete(id)
    for (const { namespace } of all)
      await this.#attempts.at(namespace.name, 'remember', signal, () => this.#remember(namespace))
    // The deletion of a personal namespace continues only after the data to recreate it is recorded.
    const isKnown = ({ kind, name, uid }: ManagedNamespace) =>
      kind !== 'personal' || this.#emptied.get(name)?.uid === uid
    const waiting = all.flatMap(({ isGoing, namespace }) => (!isGoing && isKnown(namespace) ? [namespace] : []))
    for (let at = 0; at < waiting.length; at += TOGETHER)
      await Promise.all(
        waiting
          .slice(at, at + TOGETHER)
          .map(one => this.#attempts.at(one.name, 'step', signal, () => this.#step(one, signal))),
      )
    for (const [name, emptied] of this.#emptied)
      if (!uids.has(emptied.uid))
        await this.#attempts.at(name, 'come back', signal, () => this.#comeBack(emptied, signal))
  }

  /** Performs the next step of a deletion. Returns true if runs were cancelled. */
  async #step(namespace: ManagedNamespace, signal?: AbortSignal): Promise<boolean> {
    const { runs } = this.#parts
    const { name, uid, deletion } = namespace
    // No run can destroy the environments without an image for runs.
    if (!deletion || deletion.isForced || !this.#world.settings.runs) {
      await this.#remove(namespace, deletion, signal)
      return false
    }
    const own = (await runs.list({ namespace: name }, signal)).filter(run => run.namespaceUid === uid)
    const { cancel, destroy, outcome } = decideDeletion(own, deletion.id)
    for (const { id } of cancel) await runs.stop(id, { why: 'cancelled', reason: 'the namespace is deleted' })
    for (const deployed of destroy) {
      if (deployed.hasLogin)
        this.#log(
          `deleting ${name}: the commands of ${deployed.environment} are not run: its repository was cloned with a login for that deploy alone`,
        )
      await runs.createLast(deployed, deletion)
    }
    for (const run of own) if (run.deletion === deletion.id && run.state === 'queued') await runs.complete(run)
    if (outcome === 'gone') {
      for (const run of own)
        if (run.deletion === deletion.id && run.state === 'refused')
          this.#log(
            `deleting ${name}: the commands of ${run.environment} were not run: ${run.stop?.reason ?? 'refused'}`,
          )
      await this.#remove(namespace, deletion, signal)
    }
    if (outcome === 'gone' || outcome === 'wait') return cancel.length > 0
    await this.#fail(namespace, deletion, await this.#problemOf(outcome.failed, signal))
    return false
  }

  /**
   * Deletes a namespace if no object in it has finalizers of other programs. Otherwise records what the deletion waits
   * for.
   */
  async #remove(namespace: ManagedNamespace, deletion: Deletion | undefined, signal?: AbortSignal): Promise<void> {
    const { namespaces } = this.#parts
    if (deletion?.waits !== undefined) {
      const now = this.#world.now()
      if (now - (this.#looked.get(deletion.id) ?? 0) < LOOK) return
      this.#looked.set(deletion.id, now)
    }
    const held = await deleteHeldObjects(this.#world, namespace, deletion?.isForced === true, signal)
    if (!held || !deletion) return namespaces.remove(namespace, signal)
    if ('problem' in held) return this.#fail(namespace, deletion, held.problem)
    if (held.waits !== deletion.waits)
      await namespaces.noteDeletion(namespace, 'Deleting', { ...deletion, waits: held.waits })
  }

  async #fail(namespace: ManagedNamespace, { waits: _, ...deletion }: Deletion, problem: string): Promise<void> {
    await this.#parts.namespaces.noteDeletion(namespace, 'DeleteFailed', { ...deletion, problem })
    this.#log(`deleting ${namespace.name}: ${problem}`)
  }

  #log(text: string): void {
    this.#world.log({ time: rfc3339(this.#world.now()), text })
  }

  /** Returns the reason why a run failed: the first line of its log that starts with `error`. */
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

  /** Reads the records that an earlier leader may have left. */
  async #readEmptied(signal: AbortSignal): Promise<void> {
    const now = this.#world.now()
    if (now - this.#readAt < READ) return
    const found = await this.#records.list(signal)
    // Another replica may have been leader in the meantime, so the cached records may be out of date.
    this.#emptied.clear()
    for (const one of found) this.#emptied.set(one.name, one)
    this.#readAt = now
  }

  /**
   * Records the members of a personal namespace so that it can be recreated. After each write of the record, reads the
   * members again, and repeats the write if they have changed. No concurrent change of members is lost: a change that
   * does not find the record is finished before the members are read again, and any other change updates the record,
   * too.
   */
  async #remember({ name, uid, kind, owner }: ManagedNamespace): Promise<void> {
    if (kind !== 'personal' || uid === undefined || this.#emptied.get(name)?.uid === uid) return
    for (let written: EmptiedNamespace | undefined; ; ) {
      const found = await this.#parts.namespaces.find(name)
      if (found?.namespace.uid !== uid) return
      const members = found.members.filter(({ role }) => role !== 'owner')
      if (written && isDeepStrictEqual(rolesOf(written.members), rolesOf(members)))
        return void this.#emptied.set(name, written)
      written = { name, uid, owner, members }
      await this.#records.write(written)
    }
  }

  /** Recreates a deleted personal namespace if its owner still exists. */
  async #comeBack({ name, uid, owner: id }: EmptiedNamespace, signal: AbortSignal): Promise<void> {
    const { namespaces, users } = this.#parts
    const record = await this.#records.find(id, signal)
    // Another leader has recreated the namespace, and its owner may have changed the members since.
    if (record?.uid !== uid) return void this.#emptied.delete(name)
    const before = await namespaces.find(name)
    // The namespace was not deleted after all.
    if (before?.namespace.uid === uid) return this.#forget(name, id)
    const owner = await users.find(id)
    // A concurrent login creates the namespace, too.
    const isOwn = (one = before) =>
      one === undefined || (one.namespace.kind === 'personal' && one.namespace.owner === id)
    if (owner && owner.home === name && isOwn()) {
      const made =
        before ??
        (await namespaces.create(owner, name, 'personal').catch(async error => {
          const there = await namespaces.find(name)
          if (there && isOwn(there)) return there
          // The name was taken in the meantime, so the owner gets another name at the next login.
          if (error instanceof PlatformError) await this.#forget(name, id)
          throw error
        }))
      await this.#restoreMembers(made, record, signal)
    }
    await this.#forget(name, id)
  }

  /**
   * Restores the roles of the recorded members. Repeats this if the record was changed while the roles were being
   * restored.
   */
  async #restoreMembers({ namespace }: SharedNamespace, emptied: EmptiedNamespace, signal: AbortSignal): Promise<void> {
    const { users, members } = this.#parts
    const { owner } = emptied
    for (let record: EmptiedNamespace | undefined = emptied; record; ) {
      const bound: Member[] = []
      for (const { user, role } of record.members) {
        if (user === owner || !(await users.find(user))) continue
        const member = { namespace: namespace.name, user, role }
        await again(() => members.bind(namespace, member), signal)
        bound.push(member)
      }
      const since = await this.#records.find(owner, signal)
      const isWanted = ({ user, role }: Member) => since?.members.some(one => one.user === user && one.role === role)
      for (const one of bound) if (!isWanted(one)) await members.unbind(one)
      if (isDeepStrictEqual(since, record)) return
      record = since
    }
  }

  async #forget(name: string, owner: string): Promise<void> {
    await this.#records.remove(owner)
    this.#emptied.delete(name)
  }
}

const rolesOf = (members: EmptiedNamespace['members']): ReadonlyMap<string, string> =>
  new Map(members.map(({ user, role }) => [user, role]))

/** Retries an operation, because the API server may not find a namespace yet that was created a moment ago. */
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
