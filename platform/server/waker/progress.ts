import type { Cluster, KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import { ASLEEP, toResting } from '../../records/asleep.ts'
import { membersObjects } from '../members-objects.ts'

/** A workload of a namespace that is waking up. */
export interface WakingService {
  readonly name: string
  readonly isReady: boolean
}

/** Milliseconds for which a result is cached: many pages poll at once. */
const FRESH = 500
/** The number of workloads that are shown. */
const MOST = 50
/** Namespaces whose results are cached. */
const KEPT = 500

/** The progress of the workloads of namespaces that are waking up. */
export class WakingProgress {
  readonly #cluster: Cluster
  readonly #now: () => number
  readonly #known = new Map<string, { readonly at: number; readonly services: Promise<readonly WakingService[]> }>()

  constructor(cluster: Cluster, now: () => number) {
    this.#cluster = cluster
    this.#now = now
  }

  of(namespace: string): Promise<readonly WakingService[]> {
    const known = this.#known.get(namespace)
    const at = this.#now()
    if (known && at - known.at < FRESH) return known.services
    const services = this.#read(namespace).catch(() => [])
    this.#known.delete(namespace)
    this.#known.set(namespace, { at, services })
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= KEPT) break
      this.#known.delete(oldest)
    }
    return services
  }

  async #read(name: string): Promise<readonly WakingService[]> {
    const live = await this.#cluster.get({ apiVersion: 'v1', kind: 'Namespace', name })
    const names = new Set(toResting(live?.metadata.annotations?.[ASLEEP]).map(({ uid }) => uid))
    const kinds = ['Deployment', 'StatefulSet']
    const found: WakingService[] = []
    for (const kind of kinds)
      for await (const one of membersObjects(this.#cluster, { apiVersion: 'apps/v1', kind, namespace: name })) {
        if (names.has(one.metadata.uid ?? '')) found.push({ name: one.metadata.name, isReady: isReady(one) })
        if (found.length >= MOST) return found
      }
    return found
  }
}

function isReady({ spec, status }: KubeObject): boolean {
  const { replicas = 1 } = (spec ?? {}) as { readonly replicas?: number } // a workload's, both
  const { readyReplicas = 0 } = (status ?? {}) as { readonly readyReplicas?: number }
  return replicas > 0 && readyReplicas >= replicas
}
