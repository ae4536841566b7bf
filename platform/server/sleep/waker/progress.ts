import { Slots } from '../../../../adapters/http/slots.ts'
import type { Cluster, KubeObject } from '../../../../adapters/kubernetes/cluster.ts'
import { ASLEEP, toResting } from '../../../records/asleep.ts'

/**
 * The number of services in a waking namespace, and how many of them are ready. Names are omitted, because only members
 * may see them.
 */
export interface Waking {
  readonly ready: number
  readonly services: number
}
export const NOTHING: Waking = { ready: 0, services: 0 }

/** Time in milliseconds for which a result is cached, because many pages poll at once. */
const FRESH = 500
/** Maximum number of workloads that are counted. */
const MOST = 50
/** Maximum number of namespaces whose results are cached. */
const KEPT = 500
/**
 * Maximum number of namespaces that are read at the same time. There is a limit because any client can poll, without a
 * login.
 */
const AT_ONCE = 2

interface Known {
  readonly waking: Promise<Waking>
  /** Time in milliseconds at which the result was read; undefined while it is being read. */
  readAt?: number
}

/** The progress of namespaces that are waking up. */
export class WakingProgress {
  readonly #cluster: Cluster
  readonly #now: () => number
  readonly #known = new Map<string, Known>()
  readonly #slots = new Slots(AT_ONCE)

  constructor(cluster: Cluster, now: () => number) {
    this.#cluster = cluster
    this.#now = now
  }

  of(namespace: string): Promise<Waking> {
    const before = this.#known.get(namespace)
    if (before && (before.readAt === undefined || this.#now() - before.readAt < FRESH)) return before.waking
    const waking = this.#slots
      .run(undefined, () => this.#read(namespace))
      .catch(() => NOTHING)
      .finally(() => {
        known.readAt = this.#now()
      })
    const known: Known = { waking }
    this.#known.delete(namespace)
    this.#known.set(namespace, known)
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= KEPT) break
      this.#known.delete(oldest)
    }
    return waking
  }

  /**
   * Reads only the workloads in the namespace's sleep record, one by one, because the namespace may contain many other,
   * large workloads.
   */
  async #read(namespace: string): Promise<Waking> {
    const live = await this.#cluster.get({ apiVersion: 'v1', kind: 'Namespace', name: namespace })
    let ready = 0
    let services = 0
    for (const { kind, name, uid } of toResting(live?.metadata.annotations?.[ASLEEP])) {
      if (kind !== 'Deployment' && kind !== 'StatefulSet') continue
      const one = await this.#cluster.get({ apiVersion: 'apps/v1', kind, name, namespace })
      if (one?.metadata.uid !== uid) continue
      services++
      if (isReady(one)) ready++
      if (services >= MOST) break
    }
    return { ready, services }
  }
}

function isReady({ spec, status }: KubeObject): boolean {
  const { replicas = 1 } = (spec ?? {}) as { readonly replicas?: number } // a workload's, both
  const { readyReplicas = 0 } = (status ?? {}) as { readonly readyReplicas?: number }
  return replicas > 0 && readyReplicas >= replicas
}
