import type { KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import { ASLEEP } from '../../records/asleep.ts'
import { MANAGED_LABEL, MANAGER, rfc3339 } from '../../records/names.ts'
import { LAST_ACTIVE, type ManagedNamespace, toNamespace } from '../../records/namespace.ts'
import { whenIdle } from '../../rules/runs/idleness.ts'
import type { ServerContext } from '../context.ts'
import { PlatformError } from '../http/platform-error.ts'
import type { LeaderTask } from '../leader/leader.ts'
import type { NamespaceDeletions } from '../namespaces/deletions.ts'
import { type Namespaces, NOTED } from '../namespaces/namespaces.ts'
import { busyBy, lastWork } from './activity.ts'
import type { Sleep } from './sleep.ts'

const EVERY = 60_000
/** Time in milliseconds after which an unfinished sleep or wake is considered abandoned by its replica. */
const LOST = 30_000
/**
 * Time in milliseconds after the last recorded activity in a namespace during which every pass checks for work in
 * progress.
 */
const WATCHED = 3_600_000
/** Maximum number of namespaces that are processed at the same time. */
const TOGETHER = 4

/** Services that suspend and delete namespaces. */
interface Parts {
  readonly sleep: Sleep
  readonly namespaces: Namespaces
  readonly deletions: NamespaceDeletions
}

/**
 * Returns the task that puts unused namespaces to sleep, deletes namespaces that have been unused for long, and
 * completes each sleep and wake that was interrupted, or that could not change all objects. A failure of one namespace
 * is logged and does not affect the others.
 */
export const idleTask = (world: ServerContext, { sleep, namespaces, deletions }: Parts): LeaderTask => {
  const { cluster, now, settings } = world
  const log = (text: string) => world.log({ time: rfc3339(now()), text })
  const decide = (one: ManagedNamespace) => whenIdle(one, now(), settings.idleness)

  async function look(object: KubeObject, one: ManagedNamespace, signal: AbortSignal): Promise<void> {
    if (decide(one) !== 'delete' && (await complete(object, one, signal))) return
    if (decide(one) === 'stay') return stillWorking(one, signal)
    // Users also work with the API server directly, so their changes are only visible in the objects.
    const worked = latest(one.lastActive, await lastWork(cluster, one.name, now(), signal))
    const wanted = decide({ ...one, lastActive: worked })
    if (worked !== one.lastActive && wanted === 'stay') return note(one, worked, signal)
    if (wanted === 'delete') await remove(one, worked)
    if (wanted === 'sleep') await suspend(one, worked, signal)
  }

  /**
   * Completes a sleep or a wake that was interrupted, or that could not change all objects. Returns true if nothing
   * else is to be done in this pass.
   */
  async function complete({ metadata }: KubeObject, one: ManagedNamespace, signal: AbortSignal): Promise<boolean> {
    const { status, woken, fallingAsleep } = one
    const isLost = (since = '') => now() - (Date.parse(since) || 0) > LOST
    const isInterrupted = (since: ManagedNamespace) =>
      since.status === 'Sleeping' && since.fallingAsleep === fallingAsleep
    if (status === 'Sleeping' && fallingAsleep !== undefined && isLost(fallingAsleep)) {
      await sleep.sleepIf(one, isInterrupted, signal)
      return true
    }
    const isWaking = status === 'Waking' && isLost(woken)
    const hasSleepingObjects = status === 'Active' && metadata.annotations?.[ASLEEP] !== undefined
    if (isWaking || hasSleepingObjects) await sleep.goOn(one, signal)
    return isWaking
  }

  /** Deletes a namespace, unless a user has used it since it was read. */
  async function remove({ name }: ManagedNamespace, worked: string): Promise<void> {
    const found = await namespaces.find(name)
    if (!found) return
    const { lastActive, expires } = found.namespace
    const used = latest(lastActive, Date.parse(worked))
    if (decide({ ...found.namespace, lastActive: used }) !== 'delete') return
    const isOver = expires !== undefined && Date.parse(expires) <= now()
    await deletions.begin(found, { version: found.version })
    log(
      `deleting ${name}: ${isOver ? `it was for code of a fork until ${expires}` : `nobody has used it since ${used}`}`,
    )
  }

  /** Puts a namespace to sleep, unless a user has used it since it was read. */
  async function suspend(one: ManagedNamespace, worked: string, signal: AbortSignal): Promise<void> {
    const isIdle = (since: ManagedNamespace) =>
      decide({ ...since, lastActive: latest(since.lastActive, Date.parse(worked)) }) === 'sleep'
    if (await sleep.sleepIf(one, isIdle, signal)) log(`${one.name} goes to sleep: nobody has used it since ${worked}`)
  }

  /**
   * Records activity in a namespace with work in progress. A development container holds its Lease for hours, and each
   * check that finds the Lease counts as activity for another hour.
   */
  async function stillWorking(one: ManagedNamespace, signal: AbortSignal): Promise<void> {
    const since = now() - Date.parse(one.lastActive)
    if (one.status !== 'Active' || !(since >= NOTED && since < WATCHED)) return
    if ((await busyBy(cluster, one.name, now(), signal)) !== undefined) await note(one, rfc3339(now()), signal)
  }

  async function note({ name, uid }: ManagedNamespace, lastActive: string, signal: AbortSignal): Promise<void> {
    const patch = { metadata: { ...(uid !== undefined && { uid }), annotations: { [LAST_ACTIVE]: lastActive } } }
    await cluster.patch({ apiVersion: 'v1', kind: 'Namespace', name }, patch, { manager: MANAGER, signal })
  }

  const tryOne = async (object: KubeObject, signal: AbortSignal) => {
    const one = toNamespace(object)
    if (!one) return
    try {
      await look(object, one, signal).catch(error => {
        // A user is working in the namespace right now.
        if (!(error instanceof PlatformError) || error.body.code !== 'platform/busy') throw error
        return note(one, rfc3339(now()), signal)
      })
    } catch (error) {
      signal.throwIfAborted()
      log(`idleness of ${one.name}: ${error instanceof Error ? error.message : error}`)
    }
  }

  return {
    name: 'idle namespaces',
    everyMs: EVERY,
    async run(signal) {
      const query = { apiVersion: 'v1', kind: 'Namespace', labels: `${MANAGED_LABEL}=true` }
      for await (const page of cluster.pages(query, { signal }))
        for (let at = 0; at < page.length; at += TOGETHER)
          await Promise.all(page.slice(at, at + TOGETHER).map(one => tryOne(one, signal)))
    },
  }
}

/** Returns the later of two times (RFC 3339); one that cannot be parsed counts as never. */
const latest = (text: string, time: number): string => rfc3339(Math.max(Date.parse(text) || 0, time))
