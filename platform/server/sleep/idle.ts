import type { KubeObject } from '../../../adapters/kubernetes/cluster.ts'
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
/** Time in milliseconds after which an unfinished wake is considered abandoned by its replica. */
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
 * completes wakes that their replica did not finish. A failure of one namespace is logged and does not affect the
 * others.
 */
export const idleTask = (world: ServerContext, { sleep, namespaces, deletions }: Parts): LeaderTask => {
  const { cluster, now, settings } = world
  const log = (text: string) => world.log({ time: rfc3339(now()), text })
  const decide = (one: ManagedNamespace) => whenIdle(one, now(), settings.idleness)

  async function look(one: ManagedNamespace, signal: AbortSignal): Promise<void> {
    const { name } = one
    if (one.status === 'Waking' && now() - (Date.parse(one.woken ?? '') || 0) > LOST) return sleep.goOn(one, signal)
    if (decide(one) === 'stay') return stillWorking(one, signal)
    // Users also work with the API server directly, so their changes are only visible in the objects.
    const worked = rfc3339(Math.max(Date.parse(one.lastActive), await lastWork(cluster, name, now(), signal)))
    const wanted = decide({ ...one, lastActive: worked })
    if (worked !== one.lastActive && wanted === 'stay') return note(one, worked, signal)
    if (wanted === 'delete') {
      const isOver = one.expires !== undefined && Date.parse(one.expires) <= now()
      log(
        `deleting ${name}: ${isOver ? `it was for code of a fork until ${one.expires}` : `nobody has used it since ${worked}`}`,
      )
      const found = await namespaces.find(name)
      if (found && decide({ ...found.namespace, lastActive: worked }) === 'delete') await deletions.begin(found)
    }
    if (wanted === 'sleep') {
      await sleep.sleep(one, signal)
      log(`${name} goes to sleep: nobody has used it since ${worked}`)
    }
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
    await look(one, signal).catch(async error => {
      signal.throwIfAborted()
      // A user is working in the namespace right now.
      if (error instanceof PlatformError && error.body.code === 'platform/busy')
        return note(one, rfc3339(now()), signal)
      log(`idleness of ${one.name}: ${error instanceof Error ? error.message : error}`)
    })
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
